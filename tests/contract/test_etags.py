from __future__ import annotations

import pytest
from django.test import RequestFactory

from contract.etags import etag, if_match_version, matches_none, require_version
from contract.problems import Problem


def request(**headers):
    return RequestFactory().get("/", headers=headers)


def test_a_tag_names_version_and_viewer():
    assert etag(17, "N") == '"17-N"'


@pytest.mark.parametrize(
    ("given", "version"),
    [('"17-N"', 17), ('W/"17-N"', 17), ('"17"', 17), ('"0-public"', 0), ("*", None), (' "17-N" ', 17)],
)
def test_an_action_takes_the_version_of_any_viewers_tag(given, version):
    assert if_match_version(request(**{"If-Match": given})) == version


def test_without_if_match_no_version_is_asked_for():
    assert if_match_version(request()) is None


@pytest.mark.parametrize("given", ["17", '"N-17"', '"17-N', '"17-N", "18-N"', "", '"-1-N"', '"9999999999999999999-N"'])
def test_a_tag_that_is_none_of_ours_is_malformed(given):
    with pytest.raises(Problem) as refused:
        if_match_version(request(**{"If-Match": given}))

    [fault] = refused.value.errors
    assert (fault.pointer, fault.reason) == ("If-Match", "bad_format")


def test_a_tag_round_trips():
    assert if_match_version(request(**{"If-Match": etag(17, "N")})) == 17
    assert matches_none(request(**{"If-None-Match": etag(17, "N")}), etag(17, "N"))


@pytest.mark.parametrize(
    ("given", "matches"),
    [
        ('"17-N"', True),
        ('W/"17-N"', True),
        ('"16-N", "17-N"', True),
        ("*", True),
        ('"17-E"', False),
        ('"18-N"', False),
        ("17-N", False),
    ],
)
def test_a_representation_is_known_only_to_the_viewer_of_that_version(given, matches):
    assert matches_none(request(**{"If-None-Match": given}), '"17-N"') is matches


def test_an_action_upon_an_old_version_is_refused_with_the_present_one():
    require_version(None, 18)
    require_version(18, 18)

    with pytest.raises(Problem) as refused:
        require_version(17, 18)

    assert (refused.value.reason, refused.value.status, refused.value.version) == ("stale_version", 412, 18)
