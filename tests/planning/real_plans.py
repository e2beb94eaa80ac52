"""Plans for the public data sets, and what then happens."""

import bz2
import gzip
import time
import warnings
from functools import cache

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning

from slimline import CertifiedClassifier, CertifiedRegressor, plan
from tests.learning.real_sets import NAMES, real_set, rows_of_norm_one

_BOTH = [name for name in NAMES if name not in ("dorothea scaled", "hapmap3")]
#: Rows of norm 1 (genotypes: standardised columns), several classes, and data as they are, far from the scale of C = 1.
SETS = [*(f"{name}, rows of norm 1" for name in _BOTH), "hapmap3", "reuters", "faces", "digits", *_BOTH]


@cache
def planned_set(folder, name):
    """Return data, labels and the parameters that they ask for."""
    if name == "hapmap3":
        X, y = real_set(folder, "hapmap3")
        return X, y, {"standardize": True, "C": 1.0 / X.shape[1]}
    if name == "reuters":
        with bz2.open(folder / "reuters_moneyfx/reuters_moneyfx.trn.svmlight.bz2") as file:
            X, y = load_svmlight_file(file)
        return sp.csr_array(rows_of_norm_one(X)), y, {}
    if name == "faces":
        stored = scipy.io.loadmat(folder / "faces10k/orlraws10P.mat")
        return rows_of_norm_one(np.asarray(stored["X"])), stored["Y"].ravel(), {}
    if name == "digits":
        images = gzip.decompress((folder / "mnist/train-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((folder / "mnist/train-labels-idx1-ubyte.gz").read_bytes())
        X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)[:6000]
        return rows_of_norm_one(X).astype(np.float32), np.frombuffer(labels, np.uint8, offset=8)[:6000], {}
    if name.endswith(", rows of norm 1"):
        X, y = real_set(folder, name.removesuffix(", rows of norm 1"))
        return rows_of_norm_one(X), y, {}
    return *real_set(folder, name), {}


@cache
def trait_set(folder, name):
    """Return data, a trait, covariates and the parameters that they ask for."""
    rng = np.random.default_rng(0)
    if name == "gene expression":
        X = real_set(folder, "singh")[0].astype(np.float64)
        trait = X[:, 0] / X[:, 0].std()
        return rows_of_norm_one(X[:, 1:]), trait, None, {}
    X, _ = real_set(folder, "hapmap3")
    n, d = X.shape
    seen = X.standardised("mean", "std", "mean")
    components = np.linalg.eigh(seen.gram())[1][:, -10:]
    age, sex = rng.integers(20, 80, n), rng.integers(0, 2, n)
    effects = np.zeros((d, 1))
    effects[rng.choice(d, 200, replace=False)] = rng.standard_normal((200, 1))
    score = seen.dot(effects)[:, 0]
    trait = 170.0 + 4.0 * score / score.std() + 3.0 * rng.standard_normal(n) + 0.1 * (age - 50) + 5.0 * sex
    return X, trait, np.column_stack([age, sex, (age - 50) ** 2, components]), {"standardize": True, "C": 1.0 / d}


def plan_and_fit_trait(folder, name, **parameters):
    """Return the plan of a regression, and the model that follows it."""
    X, trait, covariates, own = trait_set(folder, name)
    made = plan(X, trait, covariates=covariates, **(own | parameters))
    return made, CertifiedRegressor(**made.parameters, random_state=0).fit(X, trait, covariates=covariates)


def plan_and_fit(folder, name, repeats=1, **parameters):
    """Return the plan, the model that follows it, and the least seconds that fitting took."""
    X, y, own = planned_set(folder, name)
    parameters = own | parameters
    made = plan(X, y, **parameters)
    chosen = made.parameters | {key: own[key] for key in ("standardize",) if key in own}
    seconds = np.inf
    for _ in range(repeats):
        model = CertifiedClassifier(**({"intercept": "free"} | chosen), random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            begin = time.perf_counter()
            model.fit(X, y)
        seconds = min(seconds, time.perf_counter() - begin)
    return made, model, seconds
