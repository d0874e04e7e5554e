"""Addresses of the games app."""

from django.urls import path

from games.api import access, records, views

urlpatterns = [
    # Addresses are tried in this order: those of a game in play first.
    path("v1/games/<uuid:game_id>/plays", views.PlaysView.as_view()),
    path("v1/games/<uuid:game_id>", views.GameView.as_view()),
    path("v1/games/<uuid:game_id>/draws", views.DrawsView.as_view()),
    path("v1/games/<uuid:game_id>/events", views.EventsView.as_view()),
    path("v1/games/<uuid:game_id>/bids", views.BidsView.as_view()),
    path("v1/games/<uuid:game_id>/looks", views.LooksView.as_view()),
    path("v1/games/<uuid:game_id>/passes", views.PassesView.as_view()),
    path("v1/games/<uuid:game_id>/redeals", views.RedealsView.as_view()),
    path("v1/games/<uuid:game_id>/deals", views.DealsView.as_view()),
    path("v1/games/<uuid:game_id>/deals/<int:number>", views.DealView.as_view()),
    path("v1/games/<uuid:game_id>/record", records.RecordView.as_view()),
    path("v1/games/<uuid:game_id>/fairness", records.FairnessView.as_view()),
    path("v1/games/<uuid:game_id>/client_seeds", records.ClientSeedsView.as_view()),
    path("v1/games", views.GamesView.as_view()),
    path("v1/games/<uuid:game_id>/seats", views.SeatsView.as_view()),
    path("v1/games/<uuid:game_id>/seats/<str:seat>", views.SeatView.as_view()),
    path("v1/games/<uuid:game_id>/seats/<str:seat>/token", access.SeatTokenView.as_view()),
    path("v1/games/<uuid:game_id>/invitations", access.InvitationsView.as_view()),
    path("v1/games/<uuid:game_id>/invitations/<uuid:link_id>", access.InvitationView.as_view()),
    path("v1/games/<uuid:game_id>/watch_links", access.WatchLinksView.as_view()),
    path("v1/games/<uuid:game_id>/watch_links/<uuid:link_id>", access.WatchLinkView.as_view()),
    path("v1/games/<uuid:game_id>/audit", access.AuditView.as_view()),
    path("v1/games/<uuid:game_id>/start", views.StartView.as_view()),
    path("v1/games/<uuid:game_id>/abort", views.AbortView.as_view()),
    path("v1/games/<uuid:game_id>/rematch", views.RematchView.as_view()),
    path("v1/games/<uuid:game_id>/resignations", views.ResignationsView.as_view()),
]
