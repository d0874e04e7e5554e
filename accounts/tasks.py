"""Tasks that nobody waits for."""

from __future__ import annotations

from celery import shared_task

from accounts import idempotency

__all__ = ["purge"]


@shared_task(name="accounts.purge", ignore_result=True)
def purge() -> int:
    """Forget the requests that were answered more than a day ago. Doing it twice does no harm."""
    return idempotency.purge()
