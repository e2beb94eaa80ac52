"""Random tiny problems made to break certificates, by every route, held against the exact optimum.

SLIMLINE_ATTACKS sets how many problems each loss and route gets in the nightly tier: 417 make 5,000 in all, which take
two minutes on one core.
"""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from slimline.errors import SlimlineError
from slimline.learning import LOSSES
from tests.estimators.test_certified_degenerate import check, fitted
from tests.learning.attack import KINDS, nasty

ATTACKS = int(os.environ.get("SLIMLINE_ATTACKS", "60"))
ROUTES = ("sketch", "gram", "direct")


@pytest.mark.parametrize("method", ROUTES)
@pytest.mark.parametrize("name", list(LOSSES))
@pytest.mark.parametrize("problems", [10, pytest.param(ATTACKS, marks=pytest.mark.nightly)])
def test_no_claim_is_violated(problems, name, method):
    rng = np.random.default_rng([list(LOSSES).index(name), ROUTES.index(method), problems])
    checked = 0
    for number in range(problems):
        kind = KINDS[int(rng.integers(len(KINDS)))]
        n, d = int(rng.integers(2, 6)), int(rng.integers(1, 6))
        X, y = nasty(rng, kind, n, d)
        y[:2] = -1, 1
        # standardised data have no rows to go through one by one
        standardise = method != "direct" and bool(rng.integers(2))
        C = float(10.0 ** rng.uniform(-6, 6))
        sparse = bool(rng.integers(2))
        where = kind, n, d, C, standardise, sparse, number
        try:
            model = fitted(
                sp.csr_array(X) if sparse else X,
                y,
                C=C,
                loss=name,
                method=method,
                n_components=int(rng.integers(1, 4)) if method == "sketch" else "auto",
                standardize=standardise,
                tol=float(10.0 ** rng.uniform(-9, -1)),
                max_passes=int(rng.integers(4, 40)),
            )
        except SlimlineError:
            assert kind in ("huge", "minute"), where  # whose squares may leave the range of the numbers
            continue
        checked += check(model, X, y, C, where) is not None
    assert checked > 0.5 * problems
