"""Addresses of the rules app."""

from django.urls import path

from rules.api import views

urlpatterns = [
    path("v1/rulesets", views.RulesetsView.as_view()),
    path("v1/rulesets/resolve", views.ResolveView.as_view()),
    path("v1/rulesets/<str:name>", views.RulesetView.as_view()),
    path("v1/rules/plays", views.PlaysView.as_view()),
    path("v1/rules/tricks", views.TricksView.as_view()),
    path("v1/rules/leaders", views.LeadersView.as_view()),
    path("v1/rules/bids", views.BidsView.as_view()),
    path("v1/rules/draws", views.DrawsView.as_view()),
    path("v1/rules/records", views.RecordsView.as_view()),
]
