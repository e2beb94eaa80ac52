"""Philox 4x32-10 against the known answers that Random123 publishes (kat_vectors), and against the twin."""

import numpy as np
import pytest

from slimline._kernels import _native, reference

KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def _words(text):
    return np.array([int(word, 16) for word in text.split()], dtype=np.uint32)


@pytest.mark.parametrize("counter, key, answer", KNOWN_ANSWERS)
def test_known_answers(counter, key, answer):
    low, high = map(int, _words(key))
    seed = low | high << 32
    words = np.empty(4, dtype=np.uint32)
    _native.philox(_words(counter), seed, words)
    np.testing.assert_array_equal(words, _words(answer))
    np.testing.assert_array_equal(reference.philox(*map(int, _words(counter)), seed), _words(answer))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 1000])
def test_against_the_twin(count):
    rng = np.random.default_rng(count)
    counters = rng.integers(0, 2**32, size=(count, 4), dtype=np.uint32)
    seed = int(rng.integers(0, 2**64, dtype=np.uint64))
    words = np.empty(4 * count, dtype=np.uint32)
    _native.philox(counters.ravel(), seed, words)
    expected = np.array([reference.philox(*map(int, counter), seed) for counter in counters])
    np.testing.assert_array_equal(words.reshape(count, 4), expected)


def test_no_two_streams_are_alike():
    streams = range(reference.NORMAL, reference.INDEPENDENT + 1)
    blocks = [reference.philox(np.arange(64), 0, 0, stream, 7).tobytes() for stream in streams]
    assert len(set(blocks)) == len(blocks) == 7
