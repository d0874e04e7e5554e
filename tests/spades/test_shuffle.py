"""The shuffle: repeatable from its parts, by an independent reading of its description, and unbiased."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spades import NotationError, Seed, commitment
from spades.cards import pack
from tests import shuffles

DECK = [card.code for card in pack(0, (), ()).deck]


def described_shuffle(
    seed: bytes, clients: list[tuple[str, str]], deck: list[str], purpose: bytes = b"deal"
) -> list[str]:
    """The steps of docs/rules.md#shuffle, written again from the text."""
    text = b"spades-shuffle-1\0" + purpose + b"\0" + seed
    for seat, own in clients:
        text += seat.encode() + b"=" + own.encode() + b"\0"
    key = hashlib.sha256(text).digest()
    stream = b"".join(hashlib.sha256(key + block.to_bytes(8, "big")).digest() for block in range(200))
    words = [int.from_bytes(stream[i : i + 4], "big") for i in range(0, len(stream), 4)]
    cards = list(deck)
    for place in reversed(range(1, len(cards))):
        while (word := words.pop(0)) >= (place + 1) * ((1 << 32) // (place + 1)):
            pass
        other = word % (place + 1)
        cards[place], cards[other] = cards[other], cards[place]
    return cards


@given(
    st.binary(min_size=32, max_size=32),
    st.lists(st.tuples(st.sampled_from("AB"), st.text(alphabet="xyz é", max_size=5)), max_size=2),
)
def test_a_shuffle_follows_its_description(seed: bytes, clients: list[tuple[str, str]]) -> None:
    shuffled = Seed(seed, tuple(clients)).shuffled(DECK)

    assert list(shuffled) == described_shuffle(seed, clients, DECK)
    assert sorted(shuffled) == sorted(DECK)


@given(
    st.binary(min_size=32, max_size=32),
    st.lists(st.tuples(st.sampled_from("NESW"), st.text(alphabet="xyz é", max_size=5)), max_size=4),
    st.sampled_from([("A", "B"), ("A", "B", "C"), ("N", "E", "S", "W"), tuple("ABCDEF")]),
)
def test_a_draw_for_seats_follows_its_description(
    seed: bytes, clients: list[tuple[str, str]], seats: tuple[str, ...]
) -> None:
    drawn = Seed(seed, tuple(clients)).seating(seats)

    assert list(drawn) == list(seats)
    assert list(drawn.values()) == described_shuffle(seed, clients, list(seats), b"seats")
    assert sorted(drawn.values()) == sorted(seats)


def test_every_seating_is_drawn_equally_often() -> None:
    rounds = 4800
    counts = Counter(
        tuple(Seed(number.to_bytes(32, "big")).seating(("N", "E", "S", "W")).values()) for number in range(rounds)
    )

    assert len(counts) == 24
    expected = rounds / 24
    chi_squared = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_squared < 49.7  # 23 degrees of freedom: one seed set in a thousand


def test_a_pinned_seed_gives_a_pinned_deal() -> None:
    shuffled = Seed(bytes(range(32)), (("A", "hello"),)).shuffled(DECK)

    assert hashlib.sha256("".join(shuffled).encode()).hexdigest() == (
        hashlib.sha256("".join(described_shuffle(bytes(range(32)), [("A", "hello")], DECK)).encode()).hexdigest()
    )
    assert "".join(shuffled[:6]) == PINNED


PINNED = "4CJC6D9SJDTD"


def test_client_seeds_change_the_deal_and_cannot_run_into_each_other() -> None:
    secret = bytes(32)
    orders = {
        Seed(secret, clients).shuffled(DECK)
        for clients in ((), (("A", "x"),), (("A", "y"),), (("B", "x"),), (("A", "x"), ("B", "x")), (("A", "xB=x"),))
    }

    assert len(orders) == 6
    with pytest.raises(NotationError):
        Seed(secret, (("A", "x\0B=x"),))


def test_a_commitment_is_the_plain_digest_of_the_seed() -> None:
    assert commitment(b"\1" * 32) == hashlib.sha256(b"\1" * 32).hexdigest() == Seed(b"\1" * 32).commitment


def test_a_seed_has_256_bits_and_does_not_print_itself() -> None:
    with pytest.raises(NotationError):
        Seed(b"short")
    assert (b"\7" * 32).hex() not in repr(Seed(b"\7" * 32))


def test_every_place_gets_every_card_equally_often() -> None:
    rounds = 4000
    counts: Counter[tuple[str, int]] = Counter()
    for number in range(rounds):
        for place, card in enumerate(Seed(hashlib.sha256(number.to_bytes(4, "big")).digest()).shuffled(DECK)):
            counts[card, place] += 1

    expected = rounds / 52
    chi = sum((counts[card, place] - expected) ** 2 / expected for card in DECK for place in range(52))

    # 51 x 51 degrees of freedom: mean 2601, standard deviation 72; the seeds are fixed, so this cannot flicker.
    assert 2601 - 4 * 72 < chi < 2601 + 4 * 72


def test_the_cut_draws_without_repeating_a_card_within_a_round() -> None:
    draw = Seed(bytes(32)).cut(DECK, ("A", "B"))
    rounds = [(next(draw), next(draw)) for _ in range(2000)]

    assert all(a[0] == "A" and b[0] == "B" and a[1] != b[1] for a, b in rounds)
    assert {a[1] for a, _ in rounds} == set(DECK)


@pytest.mark.parametrize(("cards", "number"), [(52, 4000), (54, 2000), (108, 2000)])
def test_every_card_is_as_likely_at_every_place(cards: int, number: int) -> None:
    found = shuffles.table_of(1, cards, range(number))

    assert sum(found) == number * cards
    assert abs(shuffles.deviate(found, cards, number)) < shuffles.LIMIT


def test_a_shuffle_that_prefers_places_is_noticed() -> None:
    deck = shuffles.deck(52)
    found = [0] * 52**2
    for number in range(4000):
        order = list(deck)
        numbers = random.Random(number)
        for place in range(52):  # swapping with any place at all is the usual mistake
            other = numbers.randrange(52)
            order[place], order[other] = order[other], order[place]
        for place, card in enumerate(order):
            found[deck.index(card) * 52 + place] += 1

    assert shuffles.deviate(found, 52, 4000) > shuffles.LIMIT
