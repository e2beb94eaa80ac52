"""The three laws in 50 digits by other formulas than the library's, for the tests and their table.

Arguments are float64 values, taken as the exact numbers that they are. Every answer is the logarithm of the lower tail;
each integrand is positive and smooth, and is integrated in panels that are halved until they agree.
"""

from collections.abc import Callable

import mpmath
from mpmath import mpf

DIGITS = 50  # an exponent of 1e12 takes twelve of them
NEGLIGIBLE = 75  # an integrand that has fallen by exp(-75) adds less than 1e-32 of the integral
AGREEMENT = mpf(10) ** -26  # of a panel with its halves, relative to the integral
NODES = 20


def _legendre_nodes(n: int) -> list[tuple[mpf, mpf]]:
    """Return the Gauss-Legendre nodes and weights on (0, 1), by Newton's method."""
    nodes = []
    with mpmath.workdps(DIGITS + 10):
        for i in range(n):
            x = mpmath.cos(mpmath.pi * (i + mpf(3) / 4) / (n + mpf(1) / 2))
            for _ in range(8):
                before, now = mpf(1), x
                for k in range(2, n + 1):
                    before, now = now, ((2 * k - 1) * x * now - (k - 1) * before) / k
                slope = n * (x * now - before) / (x * x - 1)
                x -= now / slope
            nodes.append(((1 + x) / 2, 1 / ((1 - x * x) * slope**2)))
    return nodes


LEGENDRE = _legendre_nodes(NODES)


def log_integral(
    log_density: Callable[[mpf], mpf], start: mpf | None, stop: mpf | None, centres: list[tuple[mpf, mpf]]
) -> mpf:
    """Return the logarithm of the integral of exp(log_density) from start to stop (None: infinite).

    `centres` are (place, width) of everything that the density does: its peaks and its steps.
    """
    ends = set()
    for place, width in centres:
        for direction in (-1, 1):
            far = place
            top = log_density(place) if _inside(place, start, stop) else -mpmath.inf
            while _inside(far, start, stop) or (far - place) * direction <= 0:
                ends.add(far)
                height = log_density(far) if _inside(far, start, stop) else -mpmath.inf
                if height < top - NEGLIGIBLE:
                    break
                top = max(top, height)
                far = far + direction * max(width, 2 * abs(far - place))
    inside = sorted({x for x in ends if _inside(x, start, stop)} | {x for x in (start, stop) if x is not None})
    heights = [log_density(x) for x in inside]
    top = max(heights)

    def panel(a: mpf, b: mpf) -> mpf:
        return (b - a) * mpmath.fsum(w * mpmath.exp(log_density(a + (b - a) * x) - top) for x, w in LEGENDRE)

    wanted = [
        (inside[i], inside[i + 1]) for i in range(len(inside) - 1) if max(heights[i], heights[i + 1]) > top - NEGLIGIBLE
    ]
    todo = [(a, b, panel(a, b)) for a, b in wanted]
    rough, total = mpmath.fsum(value for _, _, value in todo), mpf(0)
    while todo:
        a, b, value = todo.pop()
        middle = (a + b) / 2
        left, right = panel(a, middle), panel(middle, b)
        if abs(left + right - value) < AGREEMENT * rough:
            total += left + right
        else:
            todo += [(a, middle, left), (middle, b, right)]
    return mpmath.log(total) + top


def _inside(x: mpf, start: mpf | None, stop: mpf | None) -> bool:
    return (start is None or x >= start) and (stop is None or x <= stop)


def log_cosine(t: float, r: int, c: float) -> mpf:
    """Return log P(cos' ≤ t), -1 < t < 1, |c| < 1: Hotelling's density, integrated over artanh t."""
    with mpmath.workdps(DIGITS):
        t, c, half = mpf(t), mpf(c), mpf(1) / 2
        if r == 1:
            return mpmath.log(mpmath.acos(c) / mpmath.pi)
        constant = mpmath.log((r - 1) / mpmath.sqrt(2 * mpmath.pi)) + mpmath.loggamma(r) - mpmath.loggamma(r + half)
        constant += half * r * mpmath.log((1 - c) * (1 + c))

        def log_density(zeta: mpf) -> mpf:
            value, grown = mpmath.tanh(zeta), mpmath.cosh(zeta)
            return (
                (1 - r) * mpmath.log(grown)
                - (r - half) * mpmath.log(1 - c * value)
                + mpmath.log(_hypergeometric(r, (1 + c * value) / 2))
            )

        zeta, zeta_0 = mpmath.atanh(t), mpmath.atanh(c)
        width = 1 / ((r - 1) * mpmath.tanh(abs(zeta_0 - zeta)) + mpmath.sqrt(r - 1))
        centres = [(zeta, width)] + ([(zeta_0, 1 / mpmath.sqrt(r))] if zeta_0 < zeta else [])
        return constant + log_integral(log_density, None, zeta, centres)


def _hypergeometric(r: int, z: mpf) -> mpf:
    """Return ₂F₁(½, ½; r+½; z), 0 < z < 1; its series is fast, and mpmath's own function slow, where r is large."""
    half = mpf(1) / 2
    if r < 1000:
        return mpmath.hyp2f1(half, half, r + half, z)
    total = term = mpf(1)
    k = 0
    while term > mpf(10) ** -DIGITS:
        term *= (k + half) ** 2 / ((r + half + k) * (k + 1)) * z
        total += term
        k += 1
    return total


def log_inner_product(s: float, r: int, c: float) -> mpf:
    """Return log P(S ≤ s), |c| < 1: given g = ‖Rᵀw‖√r, which has the χ_r law, r S / g is normal.

    Its mean is c g, its variance 1 - c²; the integral is over log g.
    """
    with mpmath.workdps(DIGITS):
        total, c = r * mpf(s), mpf(c)
        variance = (1 - c) * (1 + c)
        constant = -(mpf(r) / 2 - 1) * mpmath.log(2) - mpmath.loggamma(mpf(r) / 2)

        def log_density(v: mpf) -> mpf:
            g = mpmath.exp(v)
            aside = (c * g - total / g) / mpmath.sqrt(2 * variance)
            # mpmath's erfc overflows far out, where nothing is left of it
            log_tail = mpmath.log(mpmath.erfc(aside) / 2) if aside < mpf(10) ** 100 else -(aside**2)
            return r * v - g * g / 2 + log_tail

        # Where the density of g has its peak, where the joint density of g and r S at s has its own, and the step
        joint = (r * variance + mpmath.sqrt((r * variance) ** 2 + 4 * total**2)) / 2
        bent = 2 * (total**2 / joint + c**2 * joint) / variance + 2 * joint
        centres = [(mpmath.log(r) / 2, 1 / mpmath.sqrt(2 * r)), (mpmath.log(joint) / 2, 1 / mpmath.sqrt(bent))]
        if total * c > 0:
            step = mpmath.sqrt(total / c)
            centres.append((mpmath.log(step), mpmath.sqrt(variance) / abs(c * step + total / step)))
        return constant + log_integral(log_density, None, None, centres)


def log_norm(q: float, r: int) -> mpf:
    """Return log P(‖Rᵀx‖² / ‖x‖² ≤ q), q > 0: the χ² density, integrated over the logarithm."""
    return _log_chi_squared(q, r, lower=True)


def log_norm_upper(q: float, r: int) -> mpf:
    """Return log P(‖Rᵀx‖² / ‖x‖² > q), q > 0."""
    return _log_chi_squared(q, r, lower=False)


def _log_chi_squared(q: float, r: int, lower: bool) -> mpf:
    with mpmath.workdps(DIGITS):
        half = mpf(r) / 2
        constant = half * mpmath.log(half) - mpmath.loggamma(half)
        edge = mpmath.log(mpf(q))
        centres = [(edge, 1 / (half * abs(mpf(q) - 1) + mpmath.sqrt(half))), (mpf(0), 1 / mpmath.sqrt(half))]
        start, stop = (None, edge) if lower else (edge, None)
        return constant + log_integral(lambda v: half * (v - mpmath.exp(v)), start, stop, centres)


def log_complement(logarithm: mpf) -> mpf:
    """Return log(1 - p) from log p."""
    with mpmath.workdps(DIGITS):
        return mpmath.log1p(-mpmath.exp(logarithm))
