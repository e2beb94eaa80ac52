"""Random tiny problems with covariates, made to break certificates, and every claim held against the exact optimum.

`python -m tests.learning.attack_free --problems 10000 --seed 1` attacks all losses in turn, with two processes, and
prints a table: half an hour of one core for 10,000 problems. It fails if any claim is violated.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from slimline import open_matrix
from slimline.learning import LOSSES, BinaryProblem, SolverState, TrainingData, certificate_of, recover_certified
from slimline.learning.certificate import bound_gap, gap_parts, intervals
from slimline.learning.covariates import Covariates
from slimline.learning.problem import DualPoint, ExactSubspace, Point
from slimline.learning.regression_losses import (
    EpsilonInsensitive,
    Huber,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
)
from slimline.learning.score_bounds import bound_scores
from slimline.learning.surrogate import FeatureSurrogate, GramSurrogate, direct_surrogate, gram_of
from tests.learning.attack import check_membership, point_at
from tests.learning.exact import as_floats, distance
from tests.learning.exact_free import exact_optimum

REGRESSION = {
    "squared_error": lambda rng: SquaredError(),
    "huber": lambda rng: Huber(10.0 ** rng.uniform(-1.5, 1.0)),
    "epsilon_insensitive": lambda rng: EpsilonInsensitive(10.0 ** rng.uniform(-2.0, 0.5)),
    "squared_epsilon_insensitive": lambda rng: SquaredEpsilonInsensitive(10.0 ** rng.uniform(-2.0, 0.5)),
    "quantile": lambda rng: Quantile(float(rng.choice([0.5, 0.1, rng.uniform(0.02, 0.98)]))),
}
NAMES = [*LOSSES, *REGRESSION]
FEATURES = ["plain", "integers", "heavy", "ill-scaled", "one direction", "duplicated", "constant", "empty"]
COVARIATES = ["plain", "plain", "binary", "age in days", "a feature", "collinear", "ties"]
#: Rounding of the comparison itself, relative to the claim.
SLACK = 1e-12


@dataclass
class Case:
    """A tiny problem with its exact optimum."""

    problem: BinaryProblem
    X: np.ndarray
    w: list
    b: list
    where: tuple

    @property
    def data(self):
        return TrainingData(open_matrix(self.X), 0.0, self.problem.weights)

    def exact_score(self, x, u):
        """Return xᵀw* + uᵀb*, exactly."""
        number = type(self.w[0])
        pairs = [*zip(x, self.w, strict=True), *zip(u, self.b, strict=True)]
        return sum((number(float(v)) * factor for v, factor in pairs), number(0))


def loss_of(name, rng):
    return LOSSES[name] if name in LOSSES else REGRESSION[name](rng)


def features(rng, kind, n, d):
    X = rng.standard_normal((n, d))
    if kind == "integers":
        X = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == "heavy":
        X = rng.standard_t(1.5, (n, d))
    elif kind == "ill-scaled":
        X *= 10.0 ** rng.uniform(-4, 6, d)
    elif kind == "one direction":
        X = rng.standard_normal((n, 1)) @ rng.standard_normal((1, d)) + 1e-3 * rng.standard_normal((n, d))
    elif kind == "duplicated":
        X[n // 2 :] = X[: n - n // 2]
        X[:, d // 2 :] = X[:, : d - d // 2]
    elif kind == "constant":
        X[:, 0] = rng.choice([1.0, 1e3, -1e-3])
    elif kind == "empty":
        X[rng.random(n) < 0.3] = 0.0
        X[:, rng.random(d) < 0.3] = 0.0
    return X * 10.0 ** (rng.uniform(-4, 4) if rng.random() < 0.4 else 0.0)


def columns(rng, kind, X, q):
    n = len(X)
    U = np.column_stack([np.ones(n), rng.standard_normal((n, q - 1))]) if q else np.zeros((n, 0))
    for j in range(1, q):
        if kind == "binary":
            U[:, j] = rng.integers(0, 2, n)
        elif kind == "age in days":
            U[:, j] = rng.integers(0, 2, n) if j % 2 else np.round(2e4 + 5e3 * rng.standard_normal(n))
        elif kind == "a feature":
            U[:, j] = X[:, 0] + 10.0 ** rng.uniform(-12, -1) * rng.standard_normal(n)
        elif kind == "collinear" and j == q - 1:
            size = 10.0 ** rng.uniform(-12, -2) * (rng.random() < 0.8)  # exactly dependent ones are left out
            U[:, j] = U[:, 0] + U[:, 1] * (q > 2) + size * rng.standard_normal(n)
        elif kind == "ties":
            U[:, j] = rng.integers(0, 3, n) / 10.0
    return U * (10.0 ** rng.uniform(-4, 6) if rng.random() < 0.2 else 1.0)


def random_case(rng, name):
    """Return a problem with its exact optimum, or the reason why there is none."""
    d, q = int(rng.integers(1, 6)), int(rng.integers(0, 4))
    # so few samples of two classes are soon separated by covariates
    n = int(rng.integers(q + 2, 7)) if name in LOSSES and q else int(rng.integers(1, 7))
    if name == "epsilon_insensitive":
        n = min(n, 5)
    kind, beside = str(rng.choice(FEATURES)), str(rng.choice(COVARIATES))
    X = features(rng, kind, n, d)
    U = columns(rng, beside, X, q)
    s = np.ones(n) if rng.random() < 0.5 else 10.0 ** rng.uniform(-2, 2, n)
    if rng.random() < 0.15:
        s[rng.integers(n)] = 10.0 ** rng.uniform(-12, -3)
    # C around what matters for the size of the data, now and then far off
    penalty = float(10.0 ** (rng.uniform(-3, 3) if rng.random() < 0.8 else rng.uniform(-6, 6)))
    penalty *= float(np.mean(X**2)) ** (rng.random() < 0.5) or 1.0
    loss = loss_of(name, rng)
    f = X @ rng.standard_normal(d) / max(1e-9, np.abs(X).mean() * d) + rng.standard_normal(n)
    if name in LOSSES:
        y, offset = np.where(f > 0 if rng.random() < 0.4 else rng.random(n) < 0.5, 1.0, -1.0), np.zeros(n)
    else:
        target = np.round(f, 1) if rng.random() < 0.3 else f * 10.0 ** (rng.uniform(-1, 2) if rng.random() < 0.4 else 0)
        y, offset = np.ones(n), -(target + (100.0 if rng.random() < 0.1 else 0.0))
    covariates = Covariates(U, s)
    problem = BinaryProblem(loss, y, s, penalty, offset, covariates)
    where = name, kind, beside, X.shape, len(covariates), penalty
    if not covariates.is_sound:
        return "no basis"
    if len(covariates) and problem.inside is None:
        return "separated"
    found = exact_optimum(loss, X, y, s, penalty, offset, covariates.columns)
    if found is None:
        return "no optimum"
    return Case(problem, X, found[0], found[1], where)


def primal_at(case, data, w, effects):
    point = point_at(data, np.append(w, 0.0))
    return Point(point.weights, point.values, point.values_error, effects)


def dual_at(case, data, a):
    """Return the dual point of a, after a pass as the recovery makes it, with the distance of a feasible one."""
    problem = case.problem
    beta = problem.representer(a)
    W, F, terms = data.normal(beta[:, None], problem.covariates)
    weights = W[0] / problem.penalty
    error = data.values_error(float(np.linalg.norm(weights)), terms)
    lost = data.weights_error(beta) / problem.penalty
    dual = DualPoint(
        weights, F[:, 0] / problem.penalty, error, np.zeros(len(problem.covariates)), a=a, weights_error=lost
    )
    dual.settle(problem, data.row_bounds)
    return dual


def state_at(case, data, point, dual):
    state = SolverState(case.problem, point, dual, ExactSubspace(len(dual.a)))
    state.bound = bound_gap(case.problem, point, dual, data.row_bounds)
    return state


def random_states(rng, case, data):
    """Yield pairs of points at random distances from the optimum; dual variables are those of a score, repaired."""
    problem, w, b = case.problem, as_floats(case.w), as_floats(case.b)
    inverse = np.linalg.inv(problem.covariates.transform)
    for share in 10.0 ** np.append(rng.uniform(-12, 0.5, 2), -16.0):
        moved = w + share * np.linalg.norm(w) * rng.standard_normal(len(w)) / len(w) ** 0.5
        effects = inverse @ (b * (1.0 + share * rng.standard_normal(len(b))))
        point = primal_at(case, data, moved, effects)
        scores = case.X @ w + problem.covariates.columns @ b + problem.offset
        scores = scores + share * (1.0 + np.abs(scores)) * rng.standard_normal(len(scores))
        smooth = problem.loss.smoothed(1e-3)
        dual = dual_at(case, data, problem.feasible(smooth.dual(problem.labels * scores)))
        yield "points", state_at(case, data, point, dual)


def fitted_states(rng, case, data):
    """Yield the states of a fit: after few steps with a useless sketch, or to rounding with the exact surrogates."""
    route = str(rng.choice(["sketch", "sketch", "gram", "rows", "direct"]))
    if route == "sketch":
        r = int(rng.integers(1, 4))
        Z = case.X @ rng.standard_normal((case.X.shape[1], r)) / r**0.5
        surrogate = GramSurrogate(gram_of(Z, 0.0), r) if rng.random() < 0.7 else FeatureSurrogate(Z, 0.0)
    elif route == "gram":
        surrogate = GramSurrogate(case.X @ case.X.T, case.X.shape[1], exact=True)
    elif route == "rows":
        surrogate = FeatureSurrogate(np.ascontiguousarray(case.X), 0.0, exact=True)
    else:
        surrogate = direct_surrogate(data)
    state = SolverState.zero(case.problem, data.shape)
    tol, passes = (0.0, int(rng.integers(4, 12))) if route == "sketch" else (1e-10, 40)
    for _ in recover_certified(data, [state], surrogate, tol=tol, max_passes=passes):
        pass
    yield route, state


@dataclass
class Tally:
    """Counts of an attack, and how wide the claims were beside the truth."""

    problems: int = 0
    claims: Counter = field(default_factory=Counter)
    without: Counter = field(default_factory=Counter)
    skipped: Counter = field(default_factory=Counter)
    violations: list = field(default_factory=list)
    ratios: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)
    drawn: Counter = field(default_factory=Counter)
    ranges: dict = field(default_factory=dict)

    def claim(self, what, off, claimed, where, key=None, size=0.0):
        """Hold a distance against the one that is claimed; compare the two unless it is rounding beside the size."""
        if not np.isfinite(claimed):
            self.without[what] += 1
            return
        self.claims[what] += 1
        if off > claimed * (1.0 + SLACK):
            self.violations.append((what, float(off), float(claimed), where))
        if key is not None and off > 1e-10 * size:
            self.ratios.setdefault((what, *key), []).append(claimed / off)

    def draw(self, case):
        """Count what a problem is made of."""
        name, features, covariates, _, q, _ = case.where
        self.drawn.update([("loss", name), ("features", features), ("covariates", q)])
        if q > 1:
            self.drawn["beside the intercept", covariates] += 1
        if len(np.unique(case.problem.offset)) < len(case.X) and name in REGRESSION:
            self.drawn["targets", "tied"] += 1
        for what, values in (
            ("|features|", case.X),
            ("|covariates|", case.problem.covariates.columns),
            ("sample weights", case.problem.weights),
            ("penalty", np.array([case.problem.penalty])),
        ):
            self._widen(what, np.abs(values[values != 0.0]))

    def _widen(self, what, sizes):
        if len(sizes):
            low, high = self.ranges.get(what, (np.inf, 0.0))
            self.ranges[what] = min(low, float(sizes.min())), max(high, float(sizes.max()))

    def add(self, other):
        """Add the counts of other problems."""
        self.problems += other.problems
        self.violations += other.violations
        for name in ("claims", "without", "skipped", "drawn"):
            getattr(self, name).update(getattr(other, name))
        for name in ("ratios", "errors"):
            for key, values in getattr(other, name).items():
                getattr(self, name).setdefault(key, []).extend(values)
        for what, pair in other.ranges.items():
            self._widen(what, np.array(pair))


def check_state(tally, rng, case, data, state, route):
    """Hold everything that is claimed of a state against the exact optimum."""
    problem, bound, where = case.problem, state.bound, (*case.where, route)
    key = (problem.loss.name, "points" if route == "points" else "fit")
    truth = as_floats(case.w)
    off = distance(case.w, bound.weights[:-1])
    size = distance(case.w, np.zeros(len(case.w)))
    tally.claim("ball", off, bound.radius, where, key, size)
    if size > 0.0:
        tally.claim("relative error", off / size, bound.relative_error, where)
    tally.errors.setdefault(key, []).append(bound.relative_error)
    parts = gap_parts(problem, state.best, state.dual, data.row_bounds)
    if not np.isfinite(parts.gap):
        tally.without["gap"] += 1
        return
    centre, radius = intervals(problem, state.best, state.dual, parts, data.column_squares)
    certificate = certificate_of(data, [state], None)
    claims = (
        (centre, radius),
        (certificate.interval_centre[0], certificate.interval_radius[0]),
        (certificate.weights[0], certificate.coordinate_radius[0]),
    )
    for j in range(len(truth)):
        for middle, around in claims:
            tally.claim("coordinate", distance(case.w[j : j + 1], middle[j : j + 1]), around[j], where)
    try:
        check_membership(certificate.interval_centre[0], certificate.interval_radius[0], case.w, where)
    except AssertionError as error:
        tally.violations.append(("rank", str(error), where))
    check_scores(tally, rng, case, data, state, where, key)


def check_scores(tally, rng, case, data, state, where, key):
    covariates = case.problem.covariates
    q, d, number = len(covariates), case.X.shape[1], type(case.w[0])
    new = rng.standard_normal((3, d)) * np.abs(case.X).max(axis=0)
    X = np.vstack([case.X, new, np.zeros((q, d))])
    beside = covariates.columns[rng.integers(0, len(case.X), 3)] * rng.uniform(-1, 2, (3, 1))
    U = np.vstack([covariates.columns, beside, np.eye(q)])
    exact = [case.exact_score(x, u) for x, u in zip(X, U, strict=True)]
    norms = np.linalg.norm(X, axis=1) * (1.0 + 1e-12)
    for with_pass in (False, True):
        (bounds,) = bound_scores(data, [state], with_pass=with_pass)
        inner = None if bounds.explained is None else X @ bounds.explained.T
        error = bounds.error(U, norms, inner)
        effects = bounds.scores(U)
        for i, (x, value) in enumerate(zip(X, exact, strict=True)):
            own = sum(
                (number(float(a)) * number(float(b)) for a, b in zip(x, state.bound.weights, strict=False)), number(0)
            )
            off = abs(float(value - own - number(float(effects[i]))))
            tally.claim("effect" if i >= len(X) - q else "score", off, error[i], where, key, abs(float(value)))


def attack(tally, rng, name, *, fits=0.5):
    """Attack one problem of a loss; `fits` is the share of problems that are fitted, too."""
    case = random_case(rng, name)
    while isinstance(case, str):
        tally.skipped[case] += 1
        case = random_case(rng, name)
    tally.problems += 1
    tally.draw(case)
    data = case.data
    for route, state in random_states(rng, case, data):
        check_state(tally, rng, case, data, state, route)
    if rng.random() < fits:
        for route, state in fitted_states(rng, case, data):
            check_state(tally, rng, case, data, state, route)


def attacked(name, numbers, seed, **options):
    """Attack the problems of a loss that have these numbers; each violation begins with what replays it.

    An exception is a violation too: every problem drawn has an optimum.
    """
    tally = Tally()
    for number in numbers:
        rng, before = np.random.default_rng([seed, NAMES.index(name), number]), len(tally.violations)
        try:
            attack(tally, rng, name, **options)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            tally.violations.append(("exception", repr(error), f"{Path(place.filename).name}:{place.lineno}"))
        tally.violations[before:] = [(name, seed, number, *seen) for seen in tally.violations[before:]]
    return tally


def _attacked(part):
    return attacked(*part)


def parts_of(problems, seed, size=20):
    """Return (loss, numbers, seed) of all parts, every loss soon: problems are shared out evenly."""
    counts = [problems // len(NAMES) + (i < problems % len(NAMES)) for i in range(len(NAMES))]
    return [
        (name, range(start, min(start + size, count)), seed)
        for start in range(0, max(counts), size)
        for name, count in zip(NAMES, counts, strict=True)
        if start < count
    ]


def print_report(tally):
    """Print claims and violations by kind, how wide the claims are by loss, and what the problems were made of."""
    print("\n| claim | held against the optimum | no finite claim | violations |\n| --- | ---: | ---: | ---: |")
    seen = Counter(violation[3] for violation in tally.violations)
    for what in sorted({*tally.claims, *tally.without, *seen}):
        print(f"| {what} | {tally.claims[what]:,} | {tally.without[what]:,} | {seen[what]} |")
    print("\n| certified / true, median | ball, points | ball, fits | scores, fits | effects, fits | smallest error |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for loss in sorted({key[1] for key in tally.ratios}):
        kinds = [("ball", "points"), ("ball", "fit"), ("score", "fit"), ("effect", "fit")]
        found = [tally.ratios.get((what, loss, points)) for what, points in kinds]
        least = min(tally.errors.get((loss, "fit"), [np.inf]))
        print(f"| {loss} | " + " | ".join(f"{np.median(r):.3g}" if r else "-" for r in found) + f" | {least:.0e} |")
    print("\nDrawn: " + "; ".join(f"{what} {kind} {count:,}" for (what, kind), count in sorted_counts(tally.drawn)))
    print("Sizes: " + "; ".join(f"{what} {low:.0e} to {high:.0e}" for what, (low, high) in tally.ranges.items()))
    print("Drawn anew: " + ", ".join(f"{why} {count:,}" for why, count in tally.skipped.items()))
    for violation in tally.violations:
        print("VIOLATION (loss, seed, number, claim, true, claimed, problem):", *violation)
    print(f"\n{tally.problems:,} problems, {sum(tally.claims.values()):,} claims, {len(tally.violations)} violations")


def sorted_counts(counts):
    return sorted(counts.items(), key=lambda pair: tuple(map(str, pair[0])))


def main(arguments=None):
    """Attack, with progress on the error stream; return 1 if a claim was violated."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=10_000, help="of all losses together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, choices=[1, 2], help="processes")
    options = parser.parse_args(arguments)
    tally, start = Tally(), time.monotonic()
    with get_context("spawn").Pool(options.jobs) as pool:
        for part in pool.imap_unordered(_attacked, parts_of(options.problems, options.seed)):
            tally.add(part)
            passed = f"{len(tally.violations)} violations, {time.monotonic() - start:.0f} s"
            print(f"{tally.problems:,} of {options.problems:,} problems, {passed}", file=sys.stderr, flush=True)
    print_report(tally)
    return int(bool(tally.violations))


if __name__ == "__main__":
    sys.exit(main())
