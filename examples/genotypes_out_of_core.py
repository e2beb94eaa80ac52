"""Which variants tell three populations apart?
============================================

Learned from PLINK files that are never loaded whole.

300 people × 20,000 variants are simulated in a temporary folder. The same lines work for your own files of any size:
put their name in place of `cohort`. Run it with ``python examples/genotypes_out_of_core.py``.
"""
# sphinx_gallery_thumbnail_path = 'images/report_columns.png'

from tempfile import TemporaryDirectory

import numpy as np
from sklearn.linear_model import LogisticRegression

from slimline import open_matrix
from slimline.data import write_genotypes
from slimline.projections import HashEmbedding


def main() -> None:
    """Simulate, sketch, train, and go back to the variants."""
    with TemporaryDirectory() as folder:
        cohort = f"{folder}/cohort"
        write_genotypes(cohort, 300, 20_000, n_populations=3, fst=0.1, missing_rate=0.01, seed=0)
        population = np.loadtxt(f"{cohort}.labels.tsv", dtype=str, delimiter="\t", skiprows=1, usecols=2)

        genotypes = open_matrix(f"{cohort}.bed")
        X = genotypes.standardised(fill="mean")  # centred, scaled, missing calls filled: as a view, nothing is copied
        print(genotypes)

        # Pass 1: 20,000 columns become 512. What a column's mean and deviation are is found on the way.
        projection = HashEmbedding(X.shape[1], 512, seed=0, nnz_per_feature=4)  # OSNAP
        Z = X.sketch(projection)

        # Any scikit-learn classifier can be trained on the sketch, here on 200 of the people.
        train, test = slice(0, 200), slice(200, 300)
        model = LogisticRegression(C=1e-3, max_iter=1000).fit(Z[train], population[train])
        print(f"right about {model.score(Z[test], population[test]):.0%} of 100 people it has not seen")

        # Pass 2: weights on the sketch are weights on the variants, too, and give the same scores.
        lifted = projection.lift(model.coef_)  # 3 × 20,000
        difference = np.abs(X.dot(lifted.T) - Z @ model.coef_.T).max()
        print(f"scores from the sketch and from the variants differ by {difference:.0e} at most")

        # Pass 3: to rank variants, lifted weights are too noisy (512 numbers stand behind 20,000). Better ones are sums
        # of the people, each weighted by how wrong the model still is about them: the dual way back.
        wrong = np.zeros((300, 3))
        wrong[train] = (population[train, None] == model.classes_) - model.predict_proba(Z[train])
        weights = model.C * X.tdot(wrong)  # 20,000 × 3

        size = np.linalg.norm(weights, axis=1)
        variants = genotypes.variants
        for k in np.argsort(-size)[:5]:
            name, place = genotypes.feature_names[k], f"{variants.chromosome[k]}:{variants.position[k]}"
            speaks_for = f"{variants.allele1[k]} speaks for {model.classes_[np.argmax(weights[k])]}"
            print(f"  {name:>9}  {place:<12} weight {size[k]:.4f}, {speaks_for}")
        print(f"{genotypes.passes} passes over the genotypes")


if __name__ == "__main__":
    main()
