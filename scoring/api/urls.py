"""Addresses of the scoring app."""

from django.urls import path

from scoring.api import views

urlpatterns = [
    path("v1/scoring/deals", views.ScoreDealView.as_view()),
    path("v1/scoring/games", views.ScoreGameView.as_view()),
    path("v1/scoring/what_if", views.WhatIfView.as_view()),
]
