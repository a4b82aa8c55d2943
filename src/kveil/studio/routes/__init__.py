"""The routes: each reads what the page says, asks the studio, and answers as JSON."""

from __future__ import annotations
