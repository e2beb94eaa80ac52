"""Print the tables of one_parameter.md: accuracy against the number of components."""

import gzip
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from slimline import OneParameterClassifier

SEEDS = range(3)
C = 0.01


def mnist(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Return images, scaled to [0, 1], and digits."""
    folder = Path(os.environ["SLIMLINE_DATA"]) / "mnist"
    images = gzip.decompress((folder / f"{part}-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / f"{part}-labels-idx1-ubyte.gz").read_bytes())
    X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784) / np.float32(255)
    return X, np.frombuffer(labels, np.uint8, offset=8).astype(int)


def digits(n: int) -> None:
    """Print accuracy on MNIST's 10,000 test images, trained on the first n."""
    (X, y), (X_test, y_test) = mnist("train"), mnist("t10k")
    X, y = X[:n], y[:n]
    print(f"| model | numbers stored | accuracy (n = {n:,}) | seconds |\n| --- | --- | --- | --- |")
    for r in (128, 512, 2048, 4096, 8192):
        start = time.perf_counter()
        models = [OneParameterClassifier(r, C, random_state=seed).fit(X, y) for seed in SEEDS]
        seconds = (time.perf_counter() - start) / len(SEEDS)
        scores = [model.score(X_test, y_test) for model in models]
        print(
            f"| r = {r:,} | {r:,} | {np.mean(scores):.3f} ± {np.std(scores, ddof=1):.3f} | {seconds:.0f} |", flush=True
        )
    start = time.perf_counter()
    exact = LinearSVC(C=C, multi_class="crammer_singer", random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    print(f"| Crammer-Singer (LIBLINEAR) | 7,850 | {exact.score(X_test, y_test):.3f} | {seconds:.0f} |", flush=True)


def clusters(n_classes: int, n_features: int) -> None:
    """Print accuracy on Gaussian clusters, two samples a class to train and two to test, after 30 gradients at most."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_classes, n_features))
    y = np.tile(np.arange(n_classes), 2)
    X, X_test = (centres[y] + 0.3 * rng.normal(size=(y.size, n_features)) for _ in range(2))
    print(f"\n| r | share of {n_classes:,} × {n_features:,} | accuracy | seconds |\n| --- | --- | --- | --- |")
    for r in (1024, 4096, 16384, 65536):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = OneParameterClassifier(r, C=0.01, max_iter=30, random_state=0).fit(X, y)
        seconds = time.perf_counter() - start
        share = r / (n_classes * n_features)
        print(f"| {r:,} | {share:.3f} | {model.score(X_test, y):.3f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    digits(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    for n_classes in (100, 1000):
        clusters(n_classes, 200)
