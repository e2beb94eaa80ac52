"""Speeds that the cost model thinks in.

Only their ratios matter, and these hardly differ between machines: a core that multiplies faster reads faster too.
They were measured (two cores with AVX2) and are kept fixed, so that the same data take the same route everywhere.
"""

from __future__ import annotations

#: Multiply-adds a second of a float32 matrix product.
FLOAT32 = 9e10
#: And of a float64 one.
FLOAT64 = 4.5e10
#: Bytes a second from memory.
READ = 3.5e10
