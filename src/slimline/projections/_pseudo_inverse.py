"""From a sketch back to data: the least-norm x with Rᵀx = z."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from slimline.projections._base import FloatArray, Projection

#: Up to this many features for each component R itself is no larger than a few r × r matrices, and using it directly
#: does not square its condition number. With more features R is well conditioned.
_DIRECT_UP_TO = 4


@dataclass(frozen=True)
class PseudoInverse:
    """The pseudo-inverse of R, as something that can be applied.

    Either `direct`, of shape (n_components, n_features), or `factor` = (RᵀR)⁺, of shape (n_components, n_components),
    from which R⁺ = (RᵀR)⁺ Rᵀ; the other is None.
    """

    projection: Projection
    direct: FloatArray | None
    factor: FloatArray | None

    def apply(self, Z: FloatArray) -> FloatArray:
        """Return Z R⁺, in the type of `Z`."""
        if self.direct is not None:
            return (Z @ self.direct).astype(Z.dtype, copy=False)
        assert self.factor is not None
        return self.projection.lift((Z @ self.factor).astype(Z.dtype, copy=False))


def pseudo_inverse(projection: Projection) -> PseudoInverse:
    """Return the pseudo-inverse of a projection, in the memory of a few r × r matrices.

    Parameters
    ----------
    projection : Projection
        Any projection.

    Returns
    -------
    inverse : PseudoInverse
        `inverse.apply(Z)` returns Z R⁺: for each row z the x of least norm among those for which ‖Rᵀx - z‖ is smallest.

    Notes
    -----
    R⁺ = (RᵀR)⁺ Rᵀ needs only the r × r matrix RᵀR, of which eigenvalues within rounding of zero are dropped. If d ≤ 4r,
    R is inverted directly, which does not square its condition number.

    Examples
    --------
    >>> import numpy as np
    >>> from slimline.projections import Gaussian, pseudo_inverse
    >>> projection = Gaussian(n_features=200, n_components=8, seed=0)
    >>> Z = np.ones((1, 8))
    >>> X = pseudo_inverse(projection).apply(Z)
    >>> bool(np.allclose(projection.apply(X), Z))
    True
    """
    if projection.n_features <= _DIRECT_UP_TO * projection.n_components:
        R = projection.rows()
        dense = R.toarray() if isinstance(R, sp.csr_array) else R
        return PseudoInverse(projection, scipy.linalg.pinv(dense), None)
    # R may be short of full rank (columns sampled twice, empty buckets): what rounding left of a zero is not inverted.
    gram = projection.gram()
    return PseudoInverse(projection, None, scipy.linalg.pinvh(gram, rtol=len(gram) * np.finfo(np.float64).eps))
