"""Records of fits for the page: real ones of simulated people, and made-up ones of what is rare."""

from dataclasses import replace
from functools import cache
from math import inf

import numpy as np
from scipy.stats import beta
from sklearn.metrics import (
    auc,
    average_precision_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_recall_curve,
    roc_curve,
)

from slimline import CertifiedClassifier, audit, plan
from slimline.data._simulate import simulate_genotypes
from slimline.report._held_out_records import Curve, HeldOut
from slimline.report._records import (
    CostFacts,
    DataFacts,
    Feature,
    FitReport,
    ModelFacts,
    Neighbour,
    Phase,
    Reproduction,
    Search,
    StepFacts,
)
from tests.report.page.covariate_examples import COVARIATE_EXAMPLES, several_targets

POPULATIONS = [f"POP{k:02}" for k in range(26)]


def fit_of(X, y, *, title, names=None, genetic=False, C=1e-3, tol=1e-3, top=30, classes=slice(None), seed=0):
    """The record of a real fit; a quarter of the rows is held out."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    test, train = order[: len(X) // 4], order[len(X) // 4 :]
    model = CertifiedClassifier(C=C, tol=tol, standardize=True, method="sketch", random_state=seed)
    model.fit(X[train].astype(np.float64), y[train])
    scaled = X[train].astype(np.float64)
    labels = [str(label) for label in model.classes_]
    planned = plan(scaled, y[train], C=C, tol=tol, standardize=True)
    seen = np.isin(y[train], model.classes_[classes])
    audited = audit(scaled[seen], y[train][seen], projection="osnap", n_components=400, repeats=12)
    certificate = model.certificate_
    return FitReport(
        title=title,
        data=DataFacts(
            name="cohort.bed" if genetic else "spectra.csv",
            n_rows=len(train),
            n_features=X.shape[1],
            classes=tuple((label, int(np.sum(y[train] == label))) for label in labels),
            left_out=3,
            labels="column population of pops.tsv, matched by FID and IID",
            standardised=True,
            fingerprint="blake2b:5f0a33c2d7e94b18",
            nbytes=X.nbytes,
        ),
        model=ModelFacts(
            loss=model.loss,
            C=C,
            tol=tol,
            method=model.route_.method,
            reason=model.route_.reason,
            projection="sparse embedding with 4 entries a column (OSNAP)",
            n_components=model.route_.n_components,
            relative_error=tuple(float(e) for e in certificate.relative_error),
            radius=tuple(float(r) for r in certificate.radius),
            intercept=True,
            class_weight="",
        ),
        history=tuple(StepFacts(s.passes, s.seconds, max(s.relative_error)) for s in model.history_),
        features=_features(model, labels, scaled, names, genetic, top),
        held_out=held_out_of(model, X[test].astype(np.float64), y[test], labels, y[train]),
        search=Search(
            (1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
            (0.61, 0.78, 0.842, 0.84, 0.829),
            (0.04, 0.03, 0.022, 0.025, 0.03),
            folds=5,
            scoring="accuracy",
        ),
        audit=audited,
        plan=planned,
        cost=CostFacts(
            (
                Phase("reading labels and splitting", 0, 0.012),
                Phase("plan", planned.passes, planned.seconds),
                Phase("fit", model.n_passes_, model.history_[-1].seconds),
                Phase("held-out rows", 1, 0.031),
                Phase("audit", audited.passes, audited.seconds),
            ),
            peak_bytes=412_000_000,
            threads=2,
        ),
        reproduction=Reproduction(
            command="slimline fit cohort.bed --labels pops.tsv --target population \\\n    --report out.html",
            python='X = open_matrix("cohort.bed")\nCertifiedClassifier(C=1e-3, random_state=0).fit(X, y)',
            seed=seed,
            versions=(("slimline", "0.1.0"), ("NumPy", "2.3.0"), ("Python", "3.11.2")),
            made="2026-11-17T01:30:00+00:00",
        ),
        notes=("2 columns are constant: they tell nothing apart and have weight 0.",),
    )


def held_out_of(model, X, y, labels, trained):
    given = model.predict(X)
    right = int(np.sum(given == y))
    n = len(y)
    confusion = confusion_matrix(y, given, labels=model.classes_)
    values, counts = np.unique(trained, return_counts=True)
    major = values[counts.argmax()]
    scores = model.decision_function(X)
    scores = scores[:, None] if scores.ndim == 1 else scores
    shown = labels[1:] if len(labels) == 2 else labels
    curves = []
    for k, label in enumerate(shown):
        is_it = y == label
        if not 0 < is_it.sum() < n:
            continue
        false, true, _ = roc_curve(is_it, scores[:, k])
        precision, recall, _ = precision_recall_curve(is_it, scores[:, k])
        mean = float(average_precision_score(is_it, scores[:, k]))
        roc = (tuple(false), tuple(true), float(auc(false, true)))
        curves.append(Curve(label, float(is_it.mean()), *roc, tuple(recall), tuple(precision), mean))
    return HeldOut(
        source="a quarter of the rows, drawn at random from each class",
        n_rows=n,
        trained_rows=len(trained),
        accuracy=right / n,
        low=float(beta.ppf(0.025, right, n - right + 1)) if right else 0.0,
        high=float(beta.ppf(0.975, right + 1, n - right)) if right < n else 1.0,
        balanced_accuracy=float(balanced_accuracy_score(y, given)),
        majority_label=str(major),
        majority_rate=float(np.mean(y == major)),
        scoring="accuracy",
        worse_than_majority=right <= np.sum(y == major),
        proved=float(model.certified(X).mean()),
        confusion=tuple(tuple(int(c) for c in row) for row in confusion),
        curves=tuple(curves),
    )


def _features(model, labels, X, names, genetic, top):
    certificate = model.certificate_
    centre, radius = certificate.interval_centre, certificate.interval_radius
    low = np.maximum(np.abs(centre) - radius, 0.0).max(axis=0)
    high = (np.abs(centre) + radius).max(axis=0)
    weights = certificate.weights[:, :-1]
    order = np.argsort(-np.abs(weights).max(axis=0))[:top]
    columns = X - X.mean(axis=0)
    norms = np.linalg.norm(columns, axis=0) + 1e-300
    found = []
    for j in order:
        k = int(np.abs(weights[:, j]).argmax())
        alike = columns.T @ columns[:, j] / (norms * norms[j])
        alike[j] = 0.0
        near = np.flatnonzero(np.abs(alike) > 0.9)
        near = near[np.argsort(-np.abs(alike[near]))]
        name = names[j] if names is not None else f"rs{1000003 + 97 * j}"
        place = {"chromosome": str(1 + j * 22 // X.shape[1]), "position": int(50_000 + 7919 * j)}
        place |= {"allele1": "ACGT"[j % 4], "allele2": "GTAC"[j % 4]}
        found.append(
            Feature(
                index=int(j),
                name=name,
                label=labels[1] if len(labels) == 2 else labels[k],
                weight=float(weights[k, j]),
                lower=float(centre[k, j] - radius[k, j]),
                upper=float(centre[k, j] + radius[k, j]),
                best_rank=1 + int(np.sum(low > high[j])),
                worst_rank=int(np.sum(high >= low[j])),
                **(place if genetic else {}),
                n_neighbours=len(near),
                neighbours=tuple(Neighbour(f"rs{1000003 + 97 * i}", float(alike[i])) for i in near[:3]),
            )
        )
    return tuple(found)


def _people(n, d, populations, fst):
    people = simulate_genotypes(n, d, n_populations=populations, fst=fst, seed=1)
    X = people.X.copy()
    rng = np.random.default_rng(2)
    for j in range(0, d - 1, 5):  # neighbours in the genome are nearly the same
        X[:, j + 1] = np.where(rng.random(n) < 0.03, X[:, j + 1], X[:, j])
    return X, people.populations


@cache
def two_classes():
    """Two populations that are hard to tell apart."""
    X, of = _people(240, 1200, 2, 0.004)
    return fit_of(X, np.array(["CEU", "TSI"])[of], title="Which variants tell CEU from TSI?", genetic=True, C=1e-4)


@cache
def many_classes():
    """Twenty-six populations, fitted less far, so that not all is proved."""
    X, of = _people(520, 800, 26, 0.03)
    return fit_of(
        X, np.array(POPULATIONS)[of], title="Population of 520 people", genetic=True, tol=3e-3, top=50, classes=slice(3)
    )


def without_parts():
    """Nothing that can be missing is there."""
    report = two_classes()
    return replace(report, held_out=None, search=None, audit=None, plan=None, notes=(), features=report.features[:1])


HOSTILE = '</script><img src=x onerror="window.hacked=1"><style>*{display:none}</style>\'&amp;\u202e\x00\ud800'


def hostile():
    """Every text is an attack."""
    report = many_classes()
    bad = HOSTILE
    labels = tuple((f"{bad}{k}", n) for k, (_, n) in enumerate(report.data.classes))
    near = {"n_neighbours": 2, "neighbours": (Neighbour(bad, 0.99),)}
    variant = {"chromosome": bad, "allele1": bad, "allele2": bad}
    features = tuple(replace(f, name=bad, label=labels[0][0], **variant, **near) for f in report.features[:5])
    held = replace(
        report.held_out,
        source=bad,
        majority_label=bad,
        curves=tuple(replace(c, label=f"{bad}{k}") for k, c in enumerate(report.held_out.curves)),
    )
    made = Reproduction(bad, bad, 1, ((bad, bad),), bad)
    data = replace(report.data, name=bad, classes=labels, labels=bad, fingerprint=bad)
    model = replace(report.model, loss=bad, method=bad, reason=bad, projection=bad, class_weight=bad)
    audited = replace(report.audit, data=bad, family=bad, verdict=(bad,), notes=(bad,))
    planned = replace(report.plan, source=bad, advice=bad)
    return replace(
        report, title=bad, data=data, model=model, features=features, held_out=held, reproduction=made, notes=(bad,),
        search=replace(report.search, scoring=bad), audit=audited, plan=planned,
        cost=replace(report.cost, phases=(Phase(bad, 1, 1.0),)),
    )  # fmt: skip


def hostile_regression():
    """Every text about targets and covariates is an attack."""
    report = several_targets()
    bad = HOSTILE
    effects = tuple(replace(effect, name=bad, label=f"{bad}{k // 4}") for k, effect in enumerate(report.effects))
    held = tuple(replace(one, name=bad, source=bad, baseline=bad, scoring=bad) for one in report.held_out_targets)
    data = replace(report.data, targets=tuple(replace(one, name=bad) for one in report.data.targets))
    features = tuple(replace(feature, label=bad, name=bad) for feature in report.features)
    model = replace(report.model, loss_parameters=bad)
    return replace(report, effects=effects, held_out_targets=held, data=data, features=features, model=model)


def long_names():
    """Names of two hundred letters, without a space in them."""
    report = two_classes()
    features = tuple(
        replace(f, name=(f"very_long_name_{k}_" * 20)[:200], n_neighbours=7, neighbours=(Neighbour("n" * 200, 0.98),))
        for k, f in enumerate(report.features)
    )
    classes = tuple((label * 40, n) for label, n in report.data.classes)
    held = replace(
        report.held_out,
        majority_label=classes[0][0],
        curves=tuple(replace(c, label=classes[1][0]) for c in report.held_out.curves),
    )
    features = tuple(replace(f, label=classes[1][0]) for f in features)
    data = replace(report.data, classes=classes, name="d" * 200, fingerprint="f" * 128)
    return replace(report, title="t" * 200, features=features, data=data, held_out=held)


def nothing_proved():
    """No bound was found, and no row is told apart from another."""
    report = two_classes()
    d = report.data.n_features
    features = tuple(
        replace(f, lower=-inf if k == 0 else -40.0, upper=inf if k == 0 else 40.0, best_rank=1, worst_rank=d)
        for k, f in enumerate(report.features)
    )
    curve = Curve("TSI", 0.45, (0.0, 1.0), (0.0, 1.0), 0.5, (1.0, 0.0), (0.45, 1.0), 0.45)
    held = replace(
        report.held_out, accuracy=0.55, low=0.4, high=0.7, majority_rate=0.55, proved=0.0, curves=(curve,),
        worse_than_majority=True, confusion=((33, 0), (27, 0)),
    )  # fmt: skip
    history = tuple(replace(step, relative_error=inf) for step in report.history)
    model = replace(report.model, relative_error=(inf,), radius=(39.5,))
    search = replace(report.search, scores=(0.5,) * 5, deviations=(0.0,) * 5)
    return replace(report, features=features, held_out=held, history=history, model=model, search=search)


EXAMPLES = {
    "two classes": two_classes,
    "many classes": many_classes,
    "without parts": without_parts,
    "hostile": hostile,
    "hostile regression": hostile_regression,
    "long names": long_names,
    "nothing proved": nothing_proved,
    **COVARIATE_EXAMPLES,
}
