"""Before and after a projection: what was measured, beside the theorem that promised it."""

from slimline.auditing.auditor import audit
from slimline.auditing.records import Audit

__all__ = ["Audit", "audit"]
