"""
Replay a figure of a paper
==========================

slimline can replay every figure and table of the five documents behind it. Fig. 1 of shi2012 shows that a margin does
not help if the points are spread out: four points keep a margin of 1 while fewer and fewer projections to a line
separate them.
"""

import tempfile

from slimline_papers import Study, find_items, reproduce

(figure,) = find_items(["shi2012.fig1"])
with tempfile.TemporaryDirectory() as folder:  # `slimline reproduce shi2012.fig1` writes CSV, figures and a page
    (result,) = reproduce([figure], folder, Study("miniature"))

# %%
# Each claim has the printed value, the measured value, and a verdict computed from the two.

for finding in result.findings:
    print(f"{finding.verdict}: {finding.claim}\n    printed {finding.printed}; measured {finding.ours}")

# %%
# The measurements are a table. The figure and the verdicts use nothing else.

table = result.measured.table
for spread, matrices, separable in zip(table["spread"], table["matrices"], table["separable"], strict=True):
    print(f"spread {spread:5.2f}: {separable / matrices:.3f} of {matrices:.0f} projections separate")
figure.draw(table)
