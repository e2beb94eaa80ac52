"""Genotypes on disk, written in blocks: int8 `.npy` by rows, and PLINK `.bed` with its two companions."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from slimline.data.block import MISSING_CALL

#: First bytes of a `.bed` file that goes variant by variant.
BED_MAGIC = b"\x6c\x1b\x01"
_BLOCK_BYTES = 32 << 20


def write_set(stem: Path, samples: int, features: int, missing_rate: float, seed: int) -> None:
    """Write `stem`.npy, .bed, .bim and .fam with people of one population.

    Parameters
    ----------
    stem : Path
        Files are written beside it under other names, and renamed when they are whole.
    samples, features : int
        People and variants.
    missing_rate : float
        Share of the calls that is missing.
    seed : int
        The same seed gives the same people.
    """
    drafts = {
        ending: stem.with_name(f".{stem.name}.{os.getpid()}{ending}") for ending in (".npy", ".bim", ".fam", ".bed")
    }
    try:
        _write_npy(drafts[".npy"], samples, features, missing_rate, seed)
        _write_bed(drafts[".bed"], np.load(drafts[".npy"], mmap_mode="r"))
        write_names(drafts[".bed"], samples, features)
        for ending, draft in drafts.items():
            draft.replace(stem.with_name(stem.name + ending))
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def pack(genotypes: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Return int8 genotypes (people × variants) as a `.bed` file holds them, variant by variant.

    Parameters
    ----------
    genotypes : array of shape (n_samples, n_variants), int8
        Copies of the first allele, or `MISSING_CALL`.

    Returns
    -------
    packed : array of shape (n_variants, ceil(n_samples / 4)), uint8
        Two bits each, the first person in the lowest.
    """
    code = np.zeros(256, dtype=np.uint8)
    for value, two_bits in ((2, 0b00), (1, 0b10), (0, 0b11), (MISSING_CALL, 0b01)):
        code[value & 0xFF] = two_bits
    bits = code[genotypes.T.astype(np.uint8)]
    if short := -bits.shape[1] % 4:
        bits = np.pad(bits, ((0, 0), (0, short)))
    return np.ascontiguousarray(bits[:, 0::4] | bits[:, 1::4] << 2 | bits[:, 2::4] << 4 | bits[:, 3::4] << 6)


def write_names(bed: Path, samples: int, features: int) -> None:
    """Write the `.fam` and `.bim` files that belong to a `.bed` file."""
    with bed.with_suffix(".fam").open("w") as file:
        file.writelines(f"F{i} P{i} 0 0 0 -9\n" for i in range(samples))
    with bed.with_suffix(".bim").open("w") as file:
        file.writelines(f"{1 + 22 * j // features}\trs{j}\t0\t{j + 1}\tA\tG\n" for j in range(features))


def _write_npy(path: Path, samples: int, features: int, missing_rate: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    frequency = rng.integers(13, 243, size=features, dtype=np.uint8)  # 5 % to 95 %, in 256ths
    missing = round(missing_rate * 65536)
    with path.open("wb") as file:
        header = {"descr": "|i1", "fortran_order": False, "shape": (samples, features)}
        npy_format.write_array_header_1_0(file, header)
        for _ in range(samples):
            draws = rng.integers(0, 256, size=(2, features), dtype=np.uint8)
            row = (draws < frequency).sum(axis=0, dtype=np.int8)
            row[rng.integers(0, 65536, size=features, dtype=np.uint16) < missing] = MISSING_CALL
            file.write(row.tobytes())


def _write_bed(path: Path, genotypes: NDArray[np.int8]) -> None:
    samples, features = genotypes.shape
    step = max(1, _BLOCK_BYTES // samples)
    with path.open("wb") as file:
        file.write(BED_MAGIC)
        for start in range(0, features, step):
            file.write(pack(np.asarray(genotypes[:, start : start + step])).tobytes())
