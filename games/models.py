"""Rows of the tables: what is kept and what can never be so. No behaviour.

An `Action` is the truth: whatever happened at a table is one row, never changed. Everything else follows from the
actions, the ruleset and the seeds: `Game.state` is the present deal as a snapshot, so that an action reads two rows
whatever the game's age; `Deal` keeps each deal's seed and, once it is over, its score.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from contract.ids import uuid7

__all__ = ["Action", "Audit", "Deal", "Game", "Invitation", "Sandbox", "Seat", "WatchLink"]


class Game(models.Model):
    """One table and its game. Rows are locked by their id before anything about the table is decided."""

    class Status(models.TextChoices):
        """Where a game stands."""

        WAITING = "waiting"
        ACTIVE = "active"
        FINISHED = "finished"
        ABORTED = "aborted"

    class Visibility(models.TextChoices):
        """Who may know of the table."""

        PUBLIC = "public"
        UNLISTED = "unlisted"
        PRIVATE = "private"

    class Spectators(models.TextChoices):
        """Whether others than the seats may watch."""

        ALLOWED = "allowed"
        FORBIDDEN = "forbidden"

    class Start(models.TextChoices):
        """What starts the game."""

        WHEN_FULL = "when_full"
        BY_HOST = "by_host"

    class Seating(models.TextChoices):
        """Who gets which seat."""

        AS_TAKEN = "as_taken"
        BY_DRAW = "by_draw"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField()
    version = models.PositiveIntegerField(help_text="The number of the last event.")
    status = models.CharField(max_length=8, choices=Status)
    host = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+")
    visibility = models.CharField(max_length=8, choices=Visibility)
    spectators = models.CharField(max_length=9, choices=Spectators)
    spectator_delay = models.PositiveSmallIntegerField(
        help_text="Seconds after which a watcher is told what happened since the start."
    )
    start = models.CharField(max_length=9, choices=Start)
    seating = models.CharField(max_length=8, choices=Seating)
    hot_seat = models.BooleanField(help_text="Whether one account may hold several seats.")
    sandbox = models.BooleanField(help_text="Whether deals were set by whoever made the table.")
    rematch_of = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="rematches", db_index=False
    )
    preset = models.CharField(max_length=40)
    ruleset = models.TextField(help_text="All options as `Ruleset.text`: a later change of a preset changes no game.")
    ruleset_hash = models.CharField(max_length=64)
    engine = models.PositiveSmallIntegerField(
        help_text="The number of the rules as code that the game is played under."
    )
    occupants = models.TextField(help_text="Who sits where, as JSON in the order of the seats.")
    open_seats = models.PositiveSmallIntegerField()
    state = models.TextField(
        help_text="The match as games.codec writes it; empty before the start. Holds every secret."
    )
    turn_seat = models.CharField(max_length=1, null=True)
    bot_due_at = models.DateTimeField(null=True, help_text="Since when a bot has been on turn.")
    clock = models.TextField(null=True, help_text="The clock's settings as JSON; none means untimed.")
    deadline = models.DateTimeField(
        null=True, help_text="When the seat on turn runs out of time; bound to the version."
    )
    result = models.TextField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(version__gte=1), name="game_version_from_1"),
            models.CheckConstraint(
                condition=Q(status__in=["waiting", "active", "finished", "aborted"]), name="game_status"
            ),
            models.CheckConstraint(
                condition=Q(status="active", turn_seat__isnull=False) | ~Q(status="active"), name="game_active_has_turn"
            ),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True, status__in=["waiting", "active"])
                | Q(finished_at__isnull=False, status__in=["finished", "aborted"]),
                name="game_finished_at",
            ),
            models.UniqueConstraint(
                fields=["rematch_of"], condition=~Q(status="aborted"), name="game_one_rematch_in_force"
            ),
        ]
        indexes: ClassVar = [
            models.Index(F("created_at").desc(), F("id").desc(), name="game_newest"),
            models.Index(fields=["bot_due_at"], condition=Q(bot_due_at__isnull=False), name="game_bot_due"),
            models.Index(fields=["deadline"], condition=Q(deadline__isnull=False), name="game_deadline"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Sandbox(models.Model):
    """What whoever made a table set about its deals. Apart from the game, whose row is read for every card."""

    game = models.OneToOneField(Game, on_delete=models.CASCADE, primary_key=True, related_name="+")
    script = models.TextField(help_text="As games.scripts has it. Secret for ever.")

    def __str__(self) -> str:
        return str(self.game_id)


class Seat(models.Model):
    """One seat of a game: the token that acts for it, and whose account it is.

    Here as in the rows below `game` has no index of its own: the unique constraint's begins with it.
    """

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="seats", db_index=False)
    seat = models.CharField(max_length=1)
    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, null=True, related_name="+")
    token_digest = models.CharField(max_length=64, null=True, unique=True)
    client_seed = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["game", "seat"], name="seat_once")]

    def __str__(self) -> str:
        return f"{self.game_id} {self.seat}"


class Deal(models.Model):
    """One deal of a game: its seed, made before its commitment was published, and its score once it is over."""

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="deals", db_index=False)
    number = models.PositiveSmallIntegerField()
    attempt = models.PositiveSmallIntegerField()
    seed = models.CharField(max_length=64, help_text="32 bytes in hex, secret until the deal is over.")
    commitment = models.CharField(max_length=64)
    algorithm = models.CharField(max_length=24)
    layout = models.TextField(null=True, help_text="At a sandbox: dealer and pack, where they were set.")
    client_seeds = models.TextField(null=True, help_text="As JSON, fixed when the deal starts.")
    dealer = models.CharField(max_length=1, null=True)
    bids = models.TextField(null=True)
    tricks = models.TextField(null=True)
    score = models.TextField(null=True, help_text="The scoring answer, once the deal is scored.")
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["game", "number", "attempt"], name="deal_once"),
            models.CheckConstraint(condition=Q(number__gte=1, attempt__gte=1), name="deal_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.game_id} {self.number}.{self.attempt}"


class Action(models.Model):
    """One thing that somebody did at a table. Rows are only added."""

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="actions", db_index=False)
    version = models.PositiveIntegerField(help_text="The game's version after the action.")
    deal_number = models.PositiveSmallIntegerField(null=True)
    seat = models.CharField(max_length=1, null=True)
    input = models.TextField(help_text="What was asked, as JSON: the action's name and its body.")
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["game", "version"], name="action_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="action_version_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.game_id} {self.version}"


class Link(models.Model):
    """What invitations and watch links have in common: a token that opens one table, until it ends or is deleted."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="+", db_index=False)
    token_digest = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=40, null=True, help_text="The host's own note of what it is for.")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.game_id} {self.id}"


class Invitation(Link):
    """The right to sit down at a table, once or several times."""

    seat = models.CharField(max_length=1, null=True, help_text="The one seat that it is for; none means any.")
    uses = models.PositiveSmallIntegerField()
    used = models.PositiveSmallIntegerField(default=0)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["game", "created_at", "id"], name="invitation_of_game")]
        constraints: ClassVar = [models.CheckConstraint(condition=Q(used__lte=F("uses")), name="invitation_used")]


class WatchLink(Link):
    """The right to see what is public at a table."""

    class Meta:
        indexes: ClassVar = [models.Index(fields=["game", "created_at", "id"], name="watch_link_of_game")]


class Audit(models.Model):
    """Something that somebody did about a table outside of its game, such as replacing a token. Rows are only added."""

    class Act(models.TextChoices):
        """What was done."""

        REISSUED = "token_reissued"
        INVITATION_MADE = "invitation_made"
        INVITATION_USED = "invitation_used"
        INVITATION_DELETED = "invitation_deleted"
        WATCH_LINK_MADE = "watch_link_made"
        WATCH_LINK_DELETED = "watch_link_deleted"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="audits", db_index=False)
    created_at = models.DateTimeField()
    version = models.PositiveIntegerField(help_text="The game's version when it was done.")
    act = models.CharField(max_length=24, choices=Act)
    seat = models.CharField(max_length=1, null=True, help_text="The seat that it concerns, if it concerns one.")
    subject = models.UUIDField(null=True, help_text="The id of the invitation or the watch link, which may be gone.")
    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+")
    holder = models.ForeignKey(
        "accounts.Account",
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="Whose seat it was then: seats are drawn, and change hands.",
    )
    token_digest = models.CharField(max_length=64, null=True, help_text="Of a seat's token that was given out by it.")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["game", "created_at", "id"], name="audit_of_game")]

    def __str__(self) -> str:
        return f"{self.game_id} {self.act}"
