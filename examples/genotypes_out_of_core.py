"""Which variants separate three populations?
==========================================

A classifier and a ranking of variants, from PLINK files that are streamed.

The example simulates 300 samples × 20,000 variants in a temporary folder. The same code works for your own files of any
size: replace `cohort` by their name. Run it with ``python examples/genotypes_out_of_core.py``.
"""
# sphinx_gallery_thumbnail_path = 'images/report_columns.png'

from tempfile import TemporaryDirectory

import numpy as np
from sklearn.linear_model import LogisticRegression

from slimline import open_matrix
from slimline.data import write_genotypes
from slimline.projections import HashEmbedding


def main() -> None:
    """Simulate, sketch, train, and rank the variants."""
    with TemporaryDirectory() as folder:
        cohort = f"{folder}/cohort"
        write_genotypes(cohort, 300, 20_000, n_populations=3, fst=0.1, missing_rate=0.01, seed=0)
        population = np.loadtxt(f"{cohort}.labels.tsv", dtype=str, delimiter="\t", skiprows=1, usecols=2)

        genotypes = open_matrix(f"{cohort}.bed")
        X = genotypes.standardised(fill="mean")  # a view: centred, scaled, missing calls imputed, no copy
        print(genotypes)

        # Pass 1 sketches 20,000 variants to 512 components, and computes their means and deviations on the way.
        projection = HashEmbedding(X.shape[1], 512, seed=0, nnz_per_feature=4)  # OSNAP
        Z = X.sketch(projection)

        # Any scikit-learn classifier can be trained on the sketch, here on 200 of the samples.
        train, test = slice(0, 200), slice(200, 300)
        model = LogisticRegression(C=1e-3, max_iter=1000).fit(Z[train], population[train])
        print(f"accuracy on 100 held-out samples: {model.score(Z[test], population[test]):.0%}")

        # Pass 2 checks the lifted weights: weights of the variants that give the same scores as the sketch.
        lifted = projection.lift(model.coef_)  # 3 × 20,000
        difference = np.abs(X.dot(lifted.T) - Z @ model.coef_.T).max()
        print(f"scores from the sketch and from the variants differ by at most {difference:.0e}")

        # Pass 3 computes weights for a ranking. Lifted weights are too noisy for it (512 numbers determine 20,000).
        # Dual recovery is better: a sum of the samples, each weighted by the residual of the model.
        wrong = np.zeros((300, 3))
        wrong[train] = (population[train, None] == model.classes_) - model.predict_proba(Z[train])
        weights = model.C * X.tdot(wrong)  # 20,000 × 3

        size = np.linalg.norm(weights, axis=1)
        variants = genotypes.variants
        for k in np.argsort(-size)[:5]:
            name, place = genotypes.feature_names[k], f"{variants.chromosome[k]}:{variants.position[k]}"
            indicates = f"{variants.allele1[k]} indicates {model.classes_[np.argmax(weights[k])]}"
            print(f"  {name:>9}  {place:<12} weight {size[k]:.4f}, {indicates}")
        print(f"{genotypes.passes} passes over the genotypes")


if __name__ == "__main__":
    main()
