"""Models of genotypes, new genotypes that are not quite like theirs, and what should come of both, written out."""

from dataclasses import dataclass

import numpy as np

from slimline import CertifiedClassifier, open_matrix
from slimline.data import open_matrix as opened
from slimline.estimators._alignment import column_facts
from slimline.estimators._covariates import FreeEffects
from slimline.estimators._persistence import stored_model
from tests.data.plink_files import write_plink
from tests.estimators.certified import quiet

LETTERS = np.array([("A", "G"), ("C", "T"), ("A", "C"), ("G", "T"), ("A", "T"), ("C", "G")])
MISSING = -127


def bim_text(ids, chromosome, position, allele1, allele2):
    lines = zip(chromosome, ids, position, allele1, allele2, strict=True)
    return "".join(f"{c}\t{name}\t0\t{p}\t{a}\t{b}\n" for c, name, p, a, b in lines)


@dataclass(frozen=True)
class Cohort:
    """Genotypes of people and what a `.bim` file says of them; NaN is a missing call."""

    values: np.ndarray
    ids: np.ndarray
    chromosome: np.ndarray
    position: np.ndarray
    allele1: np.ndarray
    allele2: np.ndarray

    def changed(self, columns=slice(None), **parts):
        own = {name: getattr(self, name)[columns] for name in ("ids", "chromosome", "position", "allele1", "allele2")}
        return Cohort(**{"values": self.values[:, columns], **own, **parts})

    def opened(self, stem):
        """Write PLINK files and open them."""
        coded = np.where(np.isnan(self.values), MISSING, self.values).astype(np.int8)
        bim = bim_text(self.ids, self.chromosome, self.position, self.allele1, self.allele2)
        return open_matrix(write_plink(stem, coded, bim=bim))


def cohort(rng, n, d, missing=0.0):
    values = rng.binomial(2, rng.uniform(0.1, 0.9, d), (n, d)).astype(float)
    values[rng.random((n, d)) < missing] = np.nan
    letters = LETTERS[rng.integers(0, len(LETTERS), d)]
    turned = rng.random(d) < 0.5
    return Cohort(
        values,
        np.array([f"rs{j}" for j in range(d)], dtype=object),
        np.array([str(1 + j % 22) for j in range(d)], dtype=object),
        1000 + 10 * np.arange(d),
        np.where(turned, letters[:, 1], letters[:, 0]).astype(object),
        np.where(turned, letters[:, 0], letters[:, 1]).astype(object),
    )


def trained(people, labels, stem, **parameters):
    """Return a classifier of a cohort, and the stored model that a file would hold."""
    matrix = people.opened(stem)
    model = quiet(CertifiedClassifier(**{"random_state": 0, **parameters}), matrix, labels)
    return model, with_facts(model, matrix)


def with_facts(model, matrix):
    return stored_model(model, **column_facts(model, matrix))


def explicit_scores(stored, rows):
    """Return the scores of rows that have all columns of the model, NaN where a call is missing."""
    if stored.fill is not None:
        rows = np.where(np.isnan(rows), stored.fill, rows)
    if stored.centre is not None:
        rows = (rows - stored.centre) * stored.factor
    free = FreeEffects.of_fields(stored)
    intercept = stored.constant * stored.weights[:, -1] if free is None else free.intercepts
    return rows @ stored.weights[:, :-1].T + intercept


def named(values, names, kind=np.asarray):
    return opened(kind(values), feature_names=list(names))
