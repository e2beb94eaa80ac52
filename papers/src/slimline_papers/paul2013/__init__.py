"""Paul, Boutsidis, Magdon-Ismail and Drineas: Random projections for support vector machines (AISTATS 2013)."""

from slimline_papers.item import Item
from slimline_papers.paul2013.fig1 import FIG1
from slimline_papers.paul2013.fig2 import FIG2
from slimline_papers.paul2013.fig3 import FIG3
from slimline_papers.paul2013.friendly import FRIENDLY
from slimline_papers.paul2013.table3 import TABLE3
from slimline_papers.paul2013.tables12 import TABLE1, TABLE2
from slimline_papers.paul2013.theorem1 import THEOREM1
from slimline_papers.paul2013.theorem2 import THEOREM2

ITEMS: tuple[Item, ...] = (THEOREM1, THEOREM2, TABLE1, TABLE2, FIG1, TABLE3, FIG2, FIG3, FRIENDLY)
