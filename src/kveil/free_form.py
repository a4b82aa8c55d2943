"""Mappings whose keys nobody fixes beforehand, each by the name of what it is; all others are classes with fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Content = dict[str, Any]  # the keys of a policy, or of a part of it, as they are written: whatever stands there
GivenOptions = Mapping[str, Any]  # options of an algorithm as somebody gave them; its own class reads them
Details = Mapping[str, Any]  # what an algorithm tells of its work, by names that it chose
JsonSchema = dict[str, Any]  # a schema in the words of JSON Schema
JsonObject = Mapping[str, object]  # what is written as JSON, for rooms that need not know its class
