"""A folder with models and data of every kind that `predict` and `features` tell apart."""

import numpy as np
import pandas as pd

from slimline import CertifiedClassifier, open_matrix
from slimline.data import write_genotypes
from tests.estimators.certified import quiet

N, D = 60, 80


def write_models(folder):
    """Write models of genotypes, of a table and of plain arrays, and the data that they were trained on."""
    write_genotypes(folder / "cohort", N, 300, n_populations=3, fst=0.2, missing_rate=0.02, seed=0)
    population = np.loadtxt(folder / "cohort.labels.tsv", dtype=str, delimiter="\t", skiprows=1, usecols=2)
    genotypes = open_matrix(folder / "cohort.bed")
    for name, loss, labels in (("cohort", "squared_hinge", population), ("two", "logistic", population == "POP1")):
        model = CertifiedClassifier(1e-3, loss=loss, standardize=True, random_state=0).fit(genotypes, labels)
        model.save(folder / f"{name}.slim", trained_on=genotypes)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    y = np.where(X[:, 0] + X[:, 1] > 0, "ill", "well")
    frame = pd.DataFrame(X, columns=[f"gène {j}" for j in range(D)])
    frame.insert(0, "person", [f"p{i}" for i in range(N)])
    frame.insert(1, "status", y)
    frame.to_csv(folder / "table.csv", index=False)
    matrix = open_matrix(folder / "table.csv", id="person", label="status")
    model = quiet(CertifiedClassifier(0.05, random_state=0), matrix)
    model.save(folder / "table.slim", trained_on=matrix)
    np.save(folder / "plain.npy", X)
    np.save(folder / "y.npy", (y == "ill").astype(int))
    model = quiet(CertifiedClassifier(0.05, random_state=0), X, (y == "ill").astype(int))
    model.save(folder / "plain.slim")
    rows = ["+1 1:1 3:2", "-1 2:1", "+1 1:2", "-1 2:3 3:1"]
    (folder / "words.svm").write_text("\n".join(rows * 5) + "\n")
    quiet(CertifiedClassifier(0.1), open_matrix(folder / "words.svm")).save(folder / "words.slim")
