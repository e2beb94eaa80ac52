"""Data of several classes, and brute force over unit vectors in the plane."""

import gzip

import numpy as np
import scipy.io
import scipy.sparse as sp


def clusters(n, d, n_classes, seed):
    """Return points about a centre for each class, and their classes: all of them occur, for n ≥ n_classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return (2.0 * rng.standard_normal((n_classes, d)))[y] + 0.1 * rng.standard_normal((n, d)), y


def real_classes(folder, name, rows):
    """Return rows of a public set of several classes, as they are stored, and their labels."""
    if name in ("orlraws10P", "pixraw10P"):
        stored = scipy.io.loadmat(folder / f"faces10k/{name}.mat")
        return np.asarray(stored["X"])[:rows], stored["Y"].ravel()[:rows]
    if name == "digits":
        images = gzip.decompress((folder / "mnist/train-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((folder / "mnist/train-labels-idx1-ubyte.gz").read_bytes())
        X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)[:rows]
        return X, np.frombuffer(labels, np.uint8, offset=8)[:rows]
    X, y = sp.load_npz(folder / "newsgroups20/counts_train.npz"), np.load(folder / "newsgroups20/labels_train.npy")
    chosen = np.concatenate([np.flatnonzero(y == label)[: rows // 8] for label in np.unique(y)[:8]])
    return sp.csr_array(X)[chosen], y[chosen]


def residual(X, codes, found):
    """Return the norm of the combination that proves the upper end: ‖Z‖, or Σ ‖z_y‖ of points scaled to norm 1."""
    Z = np.zeros((len(found.classes), X.shape[1]), dtype=np.longdouble)
    X = np.asarray(X, dtype=np.longdouble)
    if found.normalised:
        X = X / np.sqrt(np.sum(np.square(X), axis=1))[:, None]
    for i, rival, weight in zip(found.support, found.rivals, found.multipliers, strict=True):
        Z[codes[i]] += weight * X[i]
        Z[rival] -= weight * X[i]
    norms = np.sqrt(np.sum(np.square(Z), axis=1))
    return float(norms.sum() if found.normalised else np.sqrt(np.sum(np.square(norms))))


def least_lead_of_angles(own, angles, codes):
    """Return the least lead that unit vectors at the angles `own` give to points at `angles`."""
    scores = np.cos(angles[:, None] - own)
    every = np.arange(len(codes))
    lead = scores[every, codes]
    scores[every, codes] = -np.inf
    return float((lead - scores.max(axis=1)).min())


def search_angles(angles, codes, n_classes, steps=72):
    """Return the best least lead of a grid over unit vectors in the plane, refined about it, and the grid's step."""
    steps = steps if n_classes < 4 else steps // 3
    grid = np.arange(steps) * 2.0 * np.pi / steps
    cosines = np.cos(angles[:, None] - grid)
    leads = np.full((steps,) * n_classes, np.inf)

    def along(values, axis):
        return values.reshape([-1 if k == axis else 1 for k in range(n_classes)])

    for cosine, own in zip(cosines, codes, strict=True):
        for rival in range(n_classes):
            if rival != own:
                np.minimum(leads, along(cosine, own) - along(cosine, rival), out=leads)
    rng, best = np.random.default_rng(0), -np.inf
    for place in np.argsort(-leads, axis=None)[:2]:
        at = grid[list(np.unravel_index(place, leads.shape))]
        value, step = least_lead_of_angles(at, angles, codes), grid[1]
        while step > 1e-3:
            tried = at + step * rng.uniform(-1.0, 1.0, (20, n_classes))
            values = [least_lead_of_angles(each, angles, codes) for each in tried]
            if max(values) > value:
                at, value = tried[int(np.argmax(values))], max(values)
            else:
                step *= 0.5
        best = max(best, value)
    return best, float(grid[1])
