"""What settings need from the contract. Imports nothing, so that settings may import it."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["MIDDLEWARE", "REST_FRAMEWORK", "SPECTACULAR"]

MIDDLEWARE: Final[list[str]] = [
    "contract.request_ids.RequestIdMiddleware",
    "contract.limits.LimitsMiddleware",
]
"""Outermost first; whatever else a deployment adds goes after them."""

REST_FRAMEWORK: Final[dict[str, Any]] = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "EXCEPTION_HANDLER": "contract.problems.handler",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}

SPECTACULAR: Final[dict[str, Any]] = {
    "TITLE": "Spades API",
    "VERSION": "0.1.0",
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    # 3.2 breaks the client generators.
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/v1",
    # What is accepted is closed, what is answered may grow; so they are never one component.
    "COMPONENT_SPLIT_REQUEST": True,
    # Enumerations stay where they are used: as components of their own they need names, and names clash.
    "POSTPROCESSING_HOOKS": ["contract.schema.complete"],
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "GENERIC_ADDITIONAL_PROPERTIES": "bool",
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}
