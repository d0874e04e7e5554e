"""All addresses."""

from __future__ import annotations

from django.urls import include, path
from django.views.generic import RedirectView

from contract import problems
from contract.urls import nothing_here
from spades_api import health

urlpatterns = [
    path("", include("games.api.urls")),
    path("", RedirectView.as_view(url="/docs")),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("", include("rules.api.urls")),
    path("", include("scoring.api.urls")),
    path("", include("accounts.api.urls")),
    path("", include("contract.urls")),
    nothing_here,
]

handler400 = problems.bad_request
handler403 = problems.permission_denied
handler404 = problems.page_not_found
handler500 = problems.server_error
