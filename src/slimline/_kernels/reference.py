"""The kernels once more in plain NumPy: slow, short, and the definition of R.

What the C++ code computes is compared with these functions bit for bit (rows of R) or to rounding (products).
"""

import numpy as np
from numpy.typing import NDArray

from slimline._kernels.gaps import gap_table

Words = NDArray[np.uint32]

NORMAL, SIGN, SPARSE_SIGN, HADAMARD_SIGN, HADAMARD_SAMPLE, GROUPED, INDEPENDENT = range(1, 8)
GROUPED_STACK, INDEPENDENT_STACK = 9, 10
#: The bit of a group's lane key that all of its buckets share.
COMMON_KEY = 4


def philox(c0: object, c1: object, c2: object, c3: int, seed: int) -> Words:
    """Return the four words of Philox 4x32-10 for each counter, in a last axis of length 4."""
    a, b, c, d = (np.asarray(x, dtype=np.uint64) for x in (c0, c1, c2, c3))
    out = np.empty((*np.broadcast_shapes(a.shape, b.shape, c.shape, d.shape), 4), dtype=np.uint32)
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * a, np.uint64(0xCD9E8D57) * c
        a, b = (p1 >> shift) ^ b ^ np.uint64(k0), p1 & low
        c, d = (p0 >> shift) ^ d ^ np.uint64(k1), p0 & low
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    out[..., 0], out[..., 1], out[..., 2], out[..., 3] = a, b, c, d
    return out


def _halves(start: int, stop: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    number = np.arange(start, stop, dtype=np.uint64)
    return number & np.uint64(0xFFFFFFFF), number >> np.uint64(32)


def _logarithm(x: NDArray[np.float32]) -> NDArray[np.float32]:
    bits = x.view(np.int32)
    exponent = (bits - np.int32(0x3F3504F3)) >> np.int32(23)
    f = (bits - (exponent << np.int32(23))).view(np.float32) - np.float32(1)
    e = exponent.astype(np.float32)
    p = f * np.float32(7.0376836292e-2) + np.float32(-1.1514610310e-1)
    for coefficient in (
        1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
        2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
    ):  # fmt: skip
        p = p * f + np.float32(coefficient)
    square = f * f
    y = (f * square) * p
    y = y + e * np.float32(-2.12194440e-4)
    y = y - square * np.float32(0.5)
    result: NDArray[np.float32] = (f + y) + e * np.float32(0.693359375)
    return result


def box_muller(u: Words, v: Words) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return two standard normals from two words, operation by operation as the kernel does."""
    f = np.float32
    uniform = ((u >> np.uint32(1)).astype(np.int32).astype(f) + f(0.5)) * f(4.656612873077393e-10)
    radius = np.sqrt(_logarithm(uniform) * f(-2))
    t = (v << np.uint32(2)).view(np.int32).astype(f) * f(3.657291552543518e-10)
    z = t * t
    sine = z * f(-1.9515295891e-4) + f(8.3321608736e-3)
    sine = sine * z + f(-1.6666654611e-1)
    sine = (sine * z) * t + t
    cosine = z * f(2.443315711809948e-5) + f(-1.388731625493765e-3)
    cosine = cosine * z + f(4.166664568298827e-2)
    cosine = cosine * (z * z) + (z * f(-0.5) + f(1))
    swap = (v >> np.uint32(30)) & np.uint32(1) == 1
    sign = np.where(v >> np.uint32(31) == 1, f(-1), f(1))
    return radius * (np.where(swap, sine, cosine) * sign), radius * (np.where(swap, cosine, sine) * sign)


def normal_rows(seed: int, start: int, stop: int, n_components: int) -> NDArray[np.float32]:
    """Return unscaled rows of a Gaussian R."""
    column = np.arange(n_components)
    low, high = _halves(start, stop)
    words = philox(np.arange(-(-n_components // 64) * 16), low[:, None], high[:, None], NORMAL, seed)
    first = box_muller(np.ascontiguousarray(words[..., 0]), np.ascontiguousarray(words[..., 1]))
    second = box_muller(np.ascontiguousarray(words[..., 2]), np.ascontiguousarray(words[..., 3]))
    counter = (column // 64) * 16 + column % 16  # of each column; it has the words of four
    return np.choose(column % 64 // 16, [part.take(counter, axis=1) for part in (*first, *second)])


def sign_rows(seed: int, start: int, stop: int, n_components: int) -> NDArray[np.float32]:
    """Return unscaled rows of a random sign R."""
    column = np.arange(n_components)
    low, high = _halves(start, stop)
    words = philox(np.arange(-(-n_components // 128)), low[:, None], high[:, None], SIGN, seed)
    word = words.reshape(stop - start, words.shape[1] * 4).take(column // 32, axis=1)
    return np.where((word >> (column % 32).astype(np.uint32)) & np.uint32(1), np.float32(-1), np.float32(1))


def sparse_sign_rows(seed: int, start: int, stop: int, n_components: int, density: float) -> NDArray[np.float32]:
    """Return unscaled rows of a sparse sign R, by drawing runs of zeros."""
    threshold, _ = gap_table(density, n_components)
    out = np.zeros((stop - start, n_components), dtype=np.float32)
    for row, feature in enumerate(range(start, stop)):
        counters = np.arange(n_components // 4 + 1)
        words = philox(counters, feature & 0xFFFFFFFF, feature >> 32, SPARSE_SIGN, seed).ravel()
        runs = np.searchsorted(-threshold.astype(np.int64), -(words >> np.uint32(1)).astype(np.int64), side="left") - 1
        columns = np.cumsum(runs + 1) - 1
        inside = columns < n_components
        out[row, columns[inside]] = np.where(words[inside] & np.uint32(1), -1, 1)
    return out


def grouped_rows(
    seed: int, start: int, stop: int, n_components: int, nonzeros: int, stacks: int, width: int = 1
) -> NDArray[np.float32]:
    """Return unscaled rows of a sparse embedding with the grouped hash."""
    buckets = n_components // (nonzeros * stacks * width)
    feature = np.arange(start, stop)
    out = np.zeros((stop - start, n_components), dtype=np.float32)
    low, high = feature // 16 & 0xFFFFFFFF, feature // 16 >> 32
    lane = feature % 16
    common = np.zeros_like(lane)
    for i in range(nonzeros):
        place = philox(low, high, i, GROUPED, seed)
        group = (place[:, 0].astype(np.uint64) * np.uint64(buckets // 16)) >> np.uint64(32)
        key = (place[:, 1] & np.uint32(15)).astype(np.int64)
        common = key & COMMON_KEY if i == 0 else common
        key = key & ~COMMON_KEY | common
        bucket = group.astype(np.int64) * 16 + (lane ^ key)
        for u in range(stacks):
            if u < 4:
                pair = place[:, 2 + u // 2]
            else:
                pair = philox(low, high, i | (1 + (u - 4) // 8) << 16, GROUPED, seed)[:, (u - 4) % 8 // 2]
            negative = (pair >> (16 * (u % 2) + (lane ^ (key & 7))).astype(np.uint32)) & np.uint32(1)
            run = _part_of(philox(low, high, i | u // 4 << 16, GROUPED_STACK, seed)[:, u % 4], width)
            column = ((i * stacks + u) * width + run) * buckets + bucket
            out[np.arange(stop - start), column] = np.where(negative, -1, 1)
    return out


def _part_of(words: Words, width: int) -> NDArray[np.int64]:
    """Return which of `width` equal parts of the range of 32 bits each word lies in."""
    return ((words.astype(np.uint64) * np.uint64(width)) >> np.uint64(32)).astype(np.int64)


def independent_rows(
    seed: int, start: int, stop: int, n_components: int, nonzeros: int, stacks: int, width: int = 1
) -> NDArray[np.float32]:
    """Return unscaled rows of a sparse embedding with the textbook hash."""
    buckets = n_components // (nonzeros * stacks * width)
    feature = np.arange(start, stop)
    out = np.zeros((stop - start, n_components), dtype=np.float32)
    low, high, word = feature // 4 & 0xFFFFFFFF, feature // 4 >> 32, (feature % 4)[:, None]

    def draw_of(third: int, stream: int) -> Words:
        return np.take_along_axis(philox(low, high, third, stream, seed), word, axis=1)[:, 0]

    for i in range(nonzeros):
        draw = draw_of(i, INDEPENDENT)
        bucket = ((draw >> np.uint32(1)).astype(np.uint64) * np.uint64(buckets) >> np.uint64(31)).astype(np.int64)
        for u in range(stacks):
            if u == 0:
                negative = draw & np.uint32(1)
            else:
                more = draw_of(i | (1 + (u - 1) // 32) << 16, INDEPENDENT)
                negative = (more >> np.uint32((u - 1) % 32)) & np.uint32(1)
            run = _part_of(draw_of(i | u << 16, INDEPENDENT_STACK), width)
            column = ((i * stacks + u) * width + run) * buckets + bucket
            out[np.arange(stop - start), column] = np.where(negative, -1, 1)
    return out


def hadamard_samples(seed: int, size: int, n_components: int, replace: bool) -> NDArray[np.uint32]:
    """Return the sampled columns: independent draws, or the first places of a Fisher-Yates shuffle."""
    words = philox(np.arange(n_components), 0, 0, HADAMARD_SAMPLE, seed).astype(np.uint64)
    draws = words[:, 0] | words[:, 1] << np.uint64(32)
    if replace:
        return (draws & np.uint64(size - 1)).astype(np.uint32)
    shuffled: dict[int, int] = {}
    out = np.empty(n_components, dtype=np.uint32)
    for k in range(n_components):
        j = k + (int(draws[k]) * (size - k) >> 64)
        out[k] = shuffled.get(j, j)
        shuffled[j] = shuffled.get(k, k)
    return out


def hadamard_signs(seed: int, start: int, stop: int) -> NDArray[np.float32]:
    """Return the random sign of each feature before the transform."""
    feature = np.arange(start, stop)
    words = philox(feature // 128 & 0xFFFFFFFF, feature // 128 >> 32, 0, HADAMARD_SIGN, seed)
    word = np.take_along_axis(words, (feature % 128 // 32)[:, None], axis=1)[:, 0]
    return np.where((word >> (feature % 32).astype(np.uint32)) & np.uint32(1), np.float32(-1), np.float32(1))


def hadamard_rows(seed: int, start: int, stop: int, samples: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Return unscaled rows of the subsampled randomised Hadamard transform."""
    common = np.arange(start, stop, dtype=np.uint32)[:, None] & samples[None, :]
    odd = np.bitwise_count(common) & np.uint8(1)
    return np.where(odd, np.float32(-1), np.float32(1)) * hadamard_signs(seed, start, stop)[:, None]


def walsh_hadamard(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the unnormalised Walsh-Hadamard transform of each row, stage by stage."""
    n, size = x.shape
    half = 1
    while half < size:
        pairs = x.reshape(n, size // (2 * half), 2, half)
        x = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(n, size)
        half *= 2
    return x
