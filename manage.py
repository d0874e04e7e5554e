#!/usr/bin/env python
"""Commands: `serve`, `migrate`, `create_account` and Django's own."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "spades_api.settings")
    execute_from_command_line(sys.argv)
