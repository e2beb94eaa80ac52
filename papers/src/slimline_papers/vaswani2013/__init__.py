"""Vaswani: Optimal weight recovery under random projections (2013)."""

from slimline_papers.item import Item
from slimline_papers.vaswani2013.corollary2 import COROLLARY2
from slimline_papers.vaswani2013.expectation import EXPECTATION
from slimline_papers.vaswani2013.feature_order import FEATURE_ORDER
from slimline_papers.vaswani2013.fig1 import FIG1
from slimline_papers.vaswani2013.fig2 import FIG2
from slimline_papers.vaswani2013.fig3 import FIG3
from slimline_papers.vaswani2013.fig4 import FIG4
from slimline_papers.vaswani2013.fig5a import FIG5A
from slimline_papers.vaswani2013.fig5b import FIG5B
from slimline_papers.vaswani2013.fig6 import FIG6
from slimline_papers.vaswani2013.probes import PROBES
from slimline_papers.vaswani2013.sparsity import SPARSITY
from slimline_papers.vaswani2013.svm_losses import SVM_LOSSES
from slimline_papers.vaswani2013.theorems import THEOREM1, THEOREM2

ITEMS: tuple[Item, ...] = (
    THEOREM1, THEOREM2, EXPECTATION, COROLLARY2, PROBES, FIG1, FIG2, FIG3, FIG4, FIG5A, FIG5B, FIG6,
    SVM_LOSSES, FEATURE_ORDER, SPARSITY,
)  # fmt: skip
