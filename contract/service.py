"""What the service tells about itself: the schema, the page to browse it, and a page for every reason.

Everything comes from files of this installation. No page asks another host for anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache, wraps
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import orjson
import yaml
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request

from contract.endpoint import JSON, Endpoint, accepts, not_modified
from contract.etags import matches_none
from contract.problems import CATALOGUE, ContractReason, Entry, Problem
from contract.queries import Parameter
from contract.schema import operation

__all__ = ["SchemaView", "docs", "docs_asset", "problem_page", "problem_pages"]

Page = Callable[..., HttpResponse]

YAML: Final = "application/yaml"
DAY: Final = 86_400

# The page may run and show what comes from this service and nothing else. Swagger UI writes styles into its elements.
DOCS_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class SchemaView(Endpoint):
    """`/v1/schema`."""

    @operation(
        "get_schema",
        summary="Get this schema",
        tag="Service",
        scope=None,
        tokens=(),
        conditional=True,
        parameters=[
            Parameter("format", kind="string", description="Overrides the `Accept` header.", choices=("json", "yaml"))
        ],
        responses={
            (200, JSON): {"type": "object", "additionalProperties": True},
            (200, YAML): {"type": "string"},
        },
        produces=(JSON, YAML),
    )
    def get(self, request: Request) -> HttpResponse:
        """Give the OpenAPI 3.1 description of this service, as JSON or as YAML."""
        as_yaml, as_json, digest = _schema()
        wants = self.query["format"] or ("json" if accepts(request.META.get("HTTP_ACCEPT", ""), (JSON,)) else "yaml")
        tag = f'"{digest}-{wants}"'
        if matches_none(request, tag):
            return not_modified(tag)
        body, media_type = (as_yaml, YAML) if wants == "yaml" else (as_json, JSON)
        return HttpResponse(body, content_type=media_type, headers={"ETag": tag, "Cache-Control": "no-cache"})


@lru_cache(maxsize=1)
def _schema() -> tuple[bytes, bytes, str]:
    """Read the committed schema once: as YAML, as JSON, and its digest. A check compares it with the code."""
    raw = (Path(settings.BASE_DIR) / "openapi" / "schema.yaml").read_bytes()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return raw, orjson.dumps(yaml.load(raw, Loader=loader)), hashlib.sha256(raw).hexdigest()[:16]  # noqa: S506  (a safe loader)


def _page(view: Page) -> Page:
    """Let a page be read and nothing else."""

    @wraps(view)
    def guarded(request: HttpRequest, **kwargs: str) -> HttpResponse:
        if request.method in {"GET", "HEAD"}:
            return view(request, **kwargs)
        return Problem(
            ContractReason.METHOD_NOT_ALLOWED, "This address takes GET, HEAD.", headers={"Allow": "GET, HEAD"}
        ).response()

    return guarded


_ASSETS: Final[dict[str, tuple[str, str]]] = {
    "swagger-ui.css": ("swagger-ui-dist/swagger-ui.css", "text/css"),
    "swagger-ui-bundle.js": ("swagger-ui-dist/swagger-ui-bundle.js", "text/javascript"),
    "favicon.png": ("swagger-ui-dist/favicon-32x32.png", "image/png"),
}
# `validatorUrl: null`: Swagger UI would otherwise send the schema's address to a service of its makers.
_START: Final = b"""window.addEventListener("load", function () {
  window.ui = SwaggerUIBundle({
    url: "/v1/schema",
    dom_id: "#docs",
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: "list",
    persistAuthorization: false,
    validatorUrl: null
  });
});
"""
_DOCS: Final = b"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Spades API</title>
<link rel="icon" href="/docs/favicon.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/start.js" defer></script>
</head>
<body>
<div id="docs"></div>
<noscript>This page needs JavaScript. The schema itself is at <a href="/v1/schema">/v1/schema</a>.</noscript>
</body>
</html>
"""


@_page
def docs(request: HttpRequest) -> HttpResponse:
    """`/docs`: the schema as a page on which every operation can be tried."""
    return HttpResponse(
        _DOCS,
        content_type="text/html; charset=utf-8",
        headers={"Content-Security-Policy": DOCS_POLICY, "Referrer-Policy": "no-referrer"},
    )


@lru_cache(maxsize=8)
def _asset(name: str) -> tuple[bytes, str]:
    if name == "start.js":
        return _START, "text/javascript"
    place, media_type = _ASSETS[name]
    root = files("drf_spectacular_sidecar") / "static" / "drf_spectacular_sidecar"
    return (root / place).read_bytes(), media_type


@_page
def docs_asset(request: HttpRequest, name: str) -> HttpResponse:
    """`/docs/{name}`: one of the four files that the page needs."""
    if name not in _ASSETS and name != "start.js":
        return Problem(ContractReason.NOT_FOUND, "The page has no such file.").response()
    body, media_type = _asset(name)
    return HttpResponse(
        body,
        content_type=f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type,
        headers={"Cache-Control": f"public, max-age={DAY}", "X-Content-Type-Options": "nosniff"},
    )


_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;"
    "color:#222;background:#fff}"
    "code{background:#f2f2f2;padding:.1em .3em}table{border-collapse:collapse;width:100%}"
    "td,th{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #ddd}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}code{background:#333}"
    "a{color:#8ab4f8}td,th{border-color:#444}}"
)


def _html(title: str, content: str) -> HttpResponse:
    return HttpResponse(
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} - Spades API</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{content}\n</body>\n</html>\n",
        content_type="text/html; charset=utf-8",
        headers={
            "Content-Security-Policy": PAGE_POLICY,
            "Cache-Control": f"public, max-age={DAY}",
            "Vary": "Accept",
        },
    )


def _wants_json(request: HttpRequest) -> bool:
    accept = request.headers.get("Accept", "")
    return bool(accept) and not accepts(accept, ("text/html",)) and accepts(accept, (JSON,))


def _json(body: Any) -> HttpResponse:
    return HttpResponse(
        orjson.dumps(body),
        content_type=JSON,
        headers={"Cache-Control": f"public, max-age={DAY}", "Vary": "Accept"},
    )


def _document(entry: Entry) -> dict[str, Any]:
    return {
        "type": f"/problems/{entry.reason}",
        "reason": entry.reason,
        "status": entry.status,
        "title": entry.title,
        "help": entry.help,
    }


def _prose(text: str) -> str:
    """Escape a text and set what stands between backquotes as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


@_page
def problem_pages(request: HttpRequest) -> HttpResponse:
    """`/problems`: every reason there is, as a page, or as JSON for a client whose `Accept` leaves HTML out."""
    entries = sorted(CATALOGUE.values(), key=lambda entry: (entry.status, entry.reason))
    if _wants_json(request):
        return _json({"items": [_document(entry) for entry in entries], "next": None})
    rows = "\n".join(
        f'<tr><td>{entry.status}</td><td><a href="/problems/{entry.reason}"><code>{entry.reason}</code></a></td>'
        f"<td>{_prose(entry.title)}</td></tr>"
        for entry in entries
    )
    return _html(
        "Problems",
        "<h1>Problems</h1>\n<p>Why a request can be refused: the <code>reason</code> of every problem answer.</p>\n"
        f"<table>\n<tr><th>Status</th><th>Reason</th><th>Meaning</th></tr>\n{rows}\n</table>",
    )


@_page
def problem_page(request: HttpRequest, reason: str) -> HttpResponse:
    """`/problems/{reason}`: what one reason means and what to do, as a page or as JSON."""
    entry = CATALOGUE.get(reason)
    if entry is None:
        return Problem(ContractReason.NOT_FOUND, "There is no such reason.").response()
    if _wants_json(request):
        return _json(_document(entry))
    return _html(
        entry.title,
        f"<h1>{_prose(entry.title)}</h1>\n<p><code>{entry.reason}</code>, status {entry.status}</p>\n"
        f'<p>{_prose(entry.help)}</p>\n<p><a href="/problems">All reasons</a></p>',
    )
