"""Which variants separate regions of the world, and which findings are certified?
===============================================================================

The example simulates genotypes of 400 samples at 12,000 variants as PLINK files in a temporary folder and streams them
from there. It trains classifiers on a sketch of the standardised variants. A certified result equals the result of
training on all variants to the exact optimum. It says nothing about the world beyond the data; that needs a study.
Run the example with ``python examples/certified_genomes.py``.
"""
# sphinx_gallery_thumbnail_path = 'images/report.png'

from tempfile import TemporaryDirectory

import numpy as np

from slimline import CertifiedClassifier, open_matrix
from slimline.data import write_genotypes


def main() -> None:
    """Simulate, train, and print what is certified."""
    with TemporaryDirectory() as folder:
        cohort = f"{folder}/cohort"
        write_genotypes(cohort, 400, 12_000, n_regions=3, n_populations=6, fst_region=0.02, missing_rate=0.01, seed=0)
        region = np.loadtxt(f"{cohort}.labels.tsv", dtype=str, delimiter="\t", skiprows=1, usecols=3)
        genotypes = open_matrix(f"{cohort}.bed")
        train, test = np.arange(300), np.arange(300, 400)
        print(genotypes)

        # A tolerance of 1e-2 suffices to certify predictions, and 1e-4 to separate the largest weights. C is small
        # because a standardised row has 12,000 entries of about 1, and a penalty that is tiny relative to them makes
        # every certificate loose. (For 300 samples method="auto" would choose the Gram matrix.)
        for tol in (1e-2, 1e-4):
            model = CertifiedClassifier(C=1e-4, standardize=True, method="sketch", tol=tol, random_state=0)
            model.fit(genotypes.rows(train), region[train])
            print(
                f"\ntol={tol:g}: {model.n_passes_} passes, of which one made the sketch of {model.route_.n_components}"
            )
            for name, error in zip(model.classes_, model.certificate_.relative_error, strict=True):
                print(f"  {name}: the weights are within {error:.2g} of the exact ones (relative, certified)")
            seen = genotypes.rows(test)
            print(f"  accuracy on 100 held-out samples: {model.score(seen, region[test]):.0%}")
            print(f"  {model.certified(seen).mean():.0%} of these predictions are certified to equal the exact model's")
            top = model.top_features(10, label="REG1")
            print(f"  {top.proved.sum()} of its top 10 variants for REG1 are certified to be in the exact top 10")

        print(f"\n{top}\n\n{genotypes.passes} passes over the file in all")


if __name__ == "__main__":
    main()
