"""Before and after a projection: what was measured, beside the theorem that promised it."""

from slimline.auditing._auditor import audit
from slimline.auditing._records import Audit

__all__ = ["Audit", "audit"]
