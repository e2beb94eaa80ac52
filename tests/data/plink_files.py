"""PLINK files written byte by byte, by the letter of the format, for tests to read."""

import numpy as np

from slimline.data import BlockRequest

CODES = {2: 0b00, 1: 0b10, 0: 0b11, -127: 0b01}


def bed_bytes(genotypes, padding=0b00) -> bytes:
    """Return a `.bed` file of people × variants; unused pairs of bits hold `padding`."""
    n, d = genotypes.shape
    pairs = np.full((d, (n + 3) // 4 * 4), padding, dtype=np.uint8)  # variant by variant, four people a byte
    people, by_variant = pairs[:, :n], genotypes.T
    people[...] = 0xFF
    for value, code in CODES.items():
        people[by_variant == value] = code
    assert not np.any(people == 0xFF), "a genotype that has no code"
    return b"\x6c\x1b\x01" + (pairs[:, ::4] | pairs[:, 1::4] << 2 | pairs[:, 2::4] << 4 | pairs[:, 3::4] << 6).tobytes()


def write_plink(stem, genotypes, *, bim=None, fam=None, padding=0b00):
    """Write the three files and return the path of the `.bed`."""
    n, d = genotypes.shape
    if bim is None:
        bim = "".join(f"{1 + j % 22}\trs{j}\t{j / 4}\t{100 + j}\tA\t{'CG'[j % 2]}\n" for j in range(d))
    if fam is None:
        fam = "".join(f"F{i} I{i} 0 0 1 -9\n" for i in range(n))
    path = stem.with_name(f"{stem.name}.bed")
    path.write_bytes(bed_bytes(genotypes, padding))
    stem.with_name(f"{stem.name}.bim").write_text(bim)
    stem.with_name(f"{stem.name}.fam").write_text(fam)
    return path


def random_genotypes(n, d, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    genotypes = rng.integers(0, 3, size=(n, d)).astype(np.int8)
    genotypes[rng.random((n, d)) < missing] = -127
    return genotypes


def unpacked(matrix):
    """Return all genotypes of a matrix, through its blocks."""
    out = np.full(matrix.shape, 99, dtype=np.int8)
    for block in matrix.blocks(BlockRequest(whole_columns=True)):
        out[block.rows, block.columns] = block.values.unpack()
    return out


def names_in(folder):
    """Return the names of all files in a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())
