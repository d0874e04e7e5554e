"""Addresses of the scoring app."""

from django.urls import path

from scoring.api import sheets, views

_SHEET = "v1/score_sheets/<uuid:sheet_id>"

urlpatterns = [
    path("v1/scoring/deals", views.ScoreDealView.as_view()),
    path("v1/scoring/games", views.ScoreGameView.as_view()),
    path("v1/scoring/what_if", views.WhatIfView.as_view()),
    path("v1/score_sheets", sheets.SheetsView.as_view()),
    path("v1/score_sheets/import", sheets.ImportSheetView.as_view()),
    path(_SHEET, sheets.SheetView.as_view()),
    path(f"{_SHEET}/deals", sheets.DealsView.as_view()),
    path(f"{_SHEET}/deals/<int:number>", sheets.DealView.as_view()),
    path(f"{_SHEET}/adjustments", sheets.AdjustmentsView.as_view()),
    path(f"{_SHEET}/certify", sheets.CertifyView.as_view()),
    path(f"{_SHEET}/undo", sheets.UndoView.as_view()),
    path(f"{_SHEET}/redo", sheets.RedoView.as_view()),
    path(f"{_SHEET}/changes", sheets.ChangesView.as_view()),
    path(f"{_SHEET}/events", sheets.EventsView.as_view()),
    path(f"{_SHEET}/export", sheets.ExportView.as_view()),
    path(f"{_SHEET}/import", sheets.ImportIntoSheetView.as_view()),
    path(f"{_SHEET}/share_links", sheets.ShareLinksView.as_view()),
    path(f"{_SHEET}/share_links/<uuid:link_id>", sheets.ShareLinkView.as_view()),
]
