"""Records as plain numbers, texts, lists and dicts."""

from __future__ import annotations

from typing import Any


def plain(value: Any) -> Any:
    """Return what JSON can hold: what is infinite or not a number becomes None, tuples become lists."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value
