"""Did the projection keep the margin?
===================================

An audit of simulated genotypes, with three numbers of components.

Run it with ``python examples/audit_a_projection.py``.
"""
# sphinx_gallery_thumbnail_path = 'images/audit.png'

import numpy as np

from slimline import audit, geometry

rng = np.random.default_rng(0)
n_people, n_variants = 200, 20_000
status = np.arange(n_people) % 2
frequency = rng.uniform(0.05, 0.5, n_variants)
shift = np.zeros(n_variants)
shift[:400] = 0.15  # variants that are more common among the cases
chance = np.clip(frequency + shift * status[:, None], 0.0, 1.0)
X = rng.binomial(2, chance).astype(np.int8)

margin = geometry.margin(X, status, normalised=True)
print(f"normalised margin {margin.value:.5f}, proved to a relative gap of {margin.relative_gap:.0e}")

for r in (100, 400, 1600):
    found = audit(X, status, projection="osnap", n_components=r, repeats=5)
    kept = next(kept for kept in found.margins if kept.name == "normalised margin")
    print(f"{r:5} components: {found.outcome:7} median draw keeps {np.median(kept.ratios):4.0%} of the margin")

print()
print(found)
