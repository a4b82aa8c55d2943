"""Attacks as they are played on frames, as plain data; no test."""

from __future__ import annotations

from typing import Any

import kveil
from kveil.flow.attack import attack_sources
from kveil.frames import from_frame


def attacked(release: Any, policy: kveil.Policy, original: Any, owner: Any = None) -> dict[str, Any]:
    return attack_sources(from_frame(release), policy, from_frame(original), owner).as_json()


def attacks_of(content: dict[str, Any], kind: str) -> dict[tuple[str, ...], dict[str, Any]]:
    return {tuple(e["attributes"]): e for e in content["attacks"] if e["attack"] == kind}
