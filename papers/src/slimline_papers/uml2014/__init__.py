"""Shalev-Shwartz and Ben-David: Understanding Machine Learning (2014), Lemmas 23.3 and 23.4."""

from slimline_papers.uml2014.lemma23_3 import LEMMA23_3
from slimline_papers.uml2014.lemma23_4 import LEMMA23_4

ITEMS = (LEMMA23_3, LEMMA23_4)
