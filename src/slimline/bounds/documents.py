"""The five documents, and one that they quote."""

from __future__ import annotations

UML2014 = "Shalev-Shwartz and Ben-David, Understanding Machine Learning (2014)"
SHI2012 = "Shi, Shen, Hill and van den Hengel, Is margin preserved after random projection? (ICML 2012)"
FARD2012 = "Milani Fard, Grinberg, Pineau and Precup, Random projections preserve linearity in sparse spaces (2012)"
PAUL2013 = "Paul, Boutsidis, Magdon-Ismail and Drineas, Random projections for support vector machines (AISTATS 2013)"
VASWANI2013 = "Vaswani, Optimal weight recovery under random projections (2013)"
BALCAN2006 = "Balcan, Blum and Vempala, Kernels as features (Machine Learning 65, 2006)"

#: The five, by short name.
FULL_NAMES = {
    "shi2012": SHI2012,
    "uml2014": UML2014,
    "fard2012": FARD2012,
    "paul2013": PAUL2013,
    "vaswani2013": VASWANI2013,
}
