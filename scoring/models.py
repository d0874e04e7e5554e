"""Rows of kept score sheets. A `Change` is the truth: what was written down, in order, and never changed.

What is written on a sheet follows from its changes, and `Sheet.content` repeats it, so that no reading goes through
them: one row is one version. Scores follow from the content and the ruleset; `Sheet.standing` repeats where the sheet
stands, for lists. No behaviour.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from contract.ids import uuid7

__all__ = ["Change", "ShareLink", "Sheet"]


class Sheet(models.Model):
    """One score sheet. Its row is locked before anything about the sheet is decided."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+", db_index=False)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    version = models.PositiveIntegerField(help_text="The number of the last change.")
    preset = models.CharField(max_length=64)
    ruleset = models.TextField(help_text="The whole ruleset, as `Ruleset.text` has it.")
    ruleset_hash = models.CharField(max_length=64)
    content = models.TextField(help_text="JSON: what is written, as it follows, and its certificate.")
    undo = models.PositiveIntegerField(help_text="How many changes could be taken back.")
    redo = models.PositiveIntegerField(help_text="How many that were taken back could be written again.")
    written = models.PositiveIntegerField(help_text="Bytes of the data of all changes.")
    standing = models.TextField(help_text="JSON: names, scores and how far the game is, as it follows.")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["account", "created_at", "id"], name="sheet_of_account")]
        constraints: ClassVar = [models.CheckConstraint(condition=Q(version__gte=1), name="sheet_version")]

    def __str__(self) -> str:
        return str(self.id)


class Change(models.Model):
    """One thing that was written on a sheet, or taken back. Rows are only added."""

    class Kind(models.TextChoices):
        """What was done; events have the same types."""

        MADE = "sheet_made"
        NAMED = "sheet_changed"
        DEAL_ADDED = "deal_added"
        DEAL_CHANGED = "deal_changed"
        ADJUSTED = "sheet_adjusted"
        IMPORTED = "sheet_imported"
        CERTIFIED = "sheet_certified"
        UNDONE = "change_undone"
        REDONE = "change_redone"

    class Mode(models.TextChoices):
        """Whether the rules were asked."""

        STRICT = "strict"
        LENIENT = "lenient"

    id = models.BigAutoField(primary_key=True)
    sheet = models.ForeignKey(Sheet, on_delete=models.CASCADE, related_name="changes", db_index=False)
    number = models.PositiveIntegerField(help_text="1 for the first, then one more each: the sheet's version after it.")
    at = models.DateTimeField()
    kind = models.CharField(max_length=16, choices=Kind)
    mode = models.CharField(max_length=7, choices=Mode)
    data = models.TextField(help_text="JSON: what was written down.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sheet", "number"], name="change_number_once_a_sheet"),
            models.CheckConstraint(condition=Q(number__gte=1), name="change_number"),
            models.CheckConstraint(
                condition=Q(kind="sheet_made", number=1) | (~Q(kind="sheet_made") & Q(number__gte=2)),
                name="change_first_makes_the_sheet",
            ),
            models.CheckConstraint(condition=Q(mode__in=["strict", "lenient"]), name="change_mode"),
        ]

    def __str__(self) -> str:
        return f"{self.sheet_id} {self.number}"


class ShareLink(models.Model):
    """The right to read a sheet, for whoever has the link's token, until it ends or is deleted."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    sheet = models.ForeignKey(Sheet, on_delete=models.CASCADE, related_name="share_links", db_index=False)
    token_digest = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=40, null=True, help_text="The owner's own note of what it is for.")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["sheet", "created_at", "id"], name="share_link_of_sheet")]

    def __str__(self) -> str:
        return f"{self.sheet_id} {self.id}"
