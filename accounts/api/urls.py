"""Addresses of accounts, to be included at the root."""

from __future__ import annotations

from django.urls import path

from accounts.api import views

__all__ = ["urlpatterns"]

urlpatterns = [
    path("v1/accounts", views.AccountsView.as_view()),
    path("v1/accounts/me", views.OwnAccountView.as_view()),
]
