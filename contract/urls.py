"""The addresses of the contract itself, to be included at the root."""

from __future__ import annotations

from django.urls import URLPattern, path, re_path

from contract import problems, service

__all__ = ["nothing_here", "urlpatterns"]

urlpatterns: list[URLPattern] = [
    path("v1/schema", service.SchemaView.as_view()),
    path("docs", service.docs),
    path("docs/<str:name>", service.docs_asset),
    path("problems", service.problem_pages),
    path("problems/<str:reason>", service.problem_page),
]

nothing_here: URLPattern = re_path(r"", problems.page_not_found)
"""To be the very last route: with DEBUG, Django would otherwise answer an unknown address with a page of its own."""
