"""Fingerprints of data."""

import hashlib
from typing import Any


def digest(*parts: Any) -> str:
    """Return a short digest of texts and bytes."""
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()[:32]
