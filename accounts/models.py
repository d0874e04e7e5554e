"""Rows: accounts, tokens, and requests that were answered."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from contract.ids import uuid7

__all__ = ["Account", "IdempotencyRecord", "Token"]


class Account(models.Model):
    """Somebody who plays, organises or builds: a person or a program."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=40)
    created_at = models.DateTimeField(default=timezone.now, editable=False)


class Token(models.Model):
    """An API token of an account. Only a digest is kept: the token itself was shown once, when it was made."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="tokens")
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.CharField(max_length=200, help_text="Names of scopes, separated by spaces.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True)


class IdempotencyRecord(models.Model):
    """A request that was answered with success, so that its repetition gets the same answer.

    A game action keeps where its answer can be rebuilt from (game, version, seat); any other keeps the answer itself,
    sealed under a key that only the Idempotency-Key yields.
    """

    digest = models.CharField(primary_key=True, max_length=64)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    answer = models.BinaryField(null=True)
    game_id = models.UUIDField(null=True)
    version = models.PositiveIntegerField(null=True)
    seat = models.CharField(max_length=1, null=True)
    created_at = models.DateTimeField(db_index=True)
