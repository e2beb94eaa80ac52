"""
Replay a figure of a paper
==========================

Every figure and table of the five documents behind slimline can be replayed. Fig. 1 of shi2012 says that a margin is
no help if the points are spread: four points keep a margin of 1 while fewer and fewer projections to a line keep them
apart.
"""

import tempfile

from slimline_papers import Study, find_items, reproduce

(figure,) = find_items(["shi2012.fig1"])
with tempfile.TemporaryDirectory() as folder:  # `slimline reproduce shi2012.fig1` leaves CSV, figures and a page
    (result,) = reproduce([figure], folder, Study("miniature"))

# %%
# Each claim comes with what is printed, what was measured, and a verdict that is computed from the two.

for finding in result.findings:
    print(f"{finding.verdict}: {finding.claim}\n    printed {finding.printed}; measured {finding.ours}")

# %%
# What was measured is a table; figure and verdicts see nothing else.

table = result.measured.table
for spread, matrices, separable in zip(table["spread"], table["matrices"], table["separable"], strict=True):
    print(f"spread {spread:5.2f}: {separable / matrices:.3f} of {matrices:.0f} projections separate")
figure.draw(table)
