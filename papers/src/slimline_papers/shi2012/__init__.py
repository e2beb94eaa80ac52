"""Shi, Shen, Hill and van den Hengel: Is margin preserved after random projection? (ICML 2012)."""

from slimline_papers.shi2012.eq1 import EQ1
from slimline_papers.shi2012.eq2 import EQ2
from slimline_papers.shi2012.eq9 import EQ9
from slimline_papers.shi2012.fig1 import FIG1
from slimline_papers.shi2012.fig2 import FIG2
from slimline_papers.shi2012.fig2_matched import FIG2_MATCHED
from slimline_papers.shi2012.fig3 import FIG3
from slimline_papers.shi2012.fig4 import FIG4
from slimline_papers.shi2012.lemma10 import LEMMA10
from slimline_papers.shi2012.theorem8 import THEOREM8
from slimline_papers.shi2012.theorem9 import THEOREM9
from slimline_papers.shi2012.theorem9_order import THEOREM9_ORDER

ITEMS = (
    FIG1, EQ1, EQ2, THEOREM8, THEOREM9, THEOREM9_ORDER, LEMMA10, EQ9,
    FIG2, FIG2_MATCHED, FIG3, FIG4,
)  # fmt: skip
