"""Bodies of requests and answers about accounts."""

from __future__ import annotations

from rest_framework import serializers

from contract.serializers import StrictCharField, StrictSerializer

__all__ = ["AccountSerializer", "CreateAccountSerializer", "NewAccountSerializer"]


class CreateAccountSerializer(StrictSerializer):
    """A new account."""

    name = StrictCharField(min_length=1, max_length=40, help_text="What other players see.")


class AccountSerializer(serializers.Serializer):
    """An account, as its owner sees it."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()


class NewAccountSerializer(serializers.Serializer):
    """A new account with its first token."""

    account = AccountSerializer()
    token = serializers.CharField(help_text="Shown this once; only a digest of it is kept.")
