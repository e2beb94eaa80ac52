"""The kernels of slimline."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray
from typing_extensions import CapsuleType


class Rows:
    """R with all its entries, drawn in tiles."""

    def __init__(self, entries: str, seed: int, columns: int, threshold: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], guide: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], sgemm: CapsuleType, dgemm: CapsuleType) -> None: ...

    def rows(self, feature: int, out: Annotated[NDArray, dict(device='cpu')]) -> None:
        """Unscaled rows of R from `feature` on."""

    def apply(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], accumulate: bool, threads: int) -> None:
        """out (+)= x R of a dense block."""

    def apply_columns(self, indptr: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], data: Annotated[NDArray, dict(device='cpu', writable=False)], feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], accumulate: bool, threads: int) -> None:
        """out (+)= x R of a CSC block."""

    def apply_rows(self, indptr: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], data: Annotated[NDArray, dict(device='cpu', writable=False)], features: int, feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], accumulate: bool, threads: int) -> None:
        """out (+)= x R of a CSR block whose indices ascend in each row."""

    def lift(self, v: Annotated[NDArray, dict(device='cpu', writable=False)], feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], threads: int) -> None:
        """out = v R^T for the features of out."""

class Scatter:
    """R with few non-zeros a feature."""

    def __init__(self, hash: str, seed: int, columns: int, nonzeros: int, stacks: int, threshold: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], guide: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int = 1) -> None: ...

    def count(self, feature: int, features: int) -> int:
        """How many non-zeros the rows from `feature` on have."""

    def rows(self, feature: int, pointer: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], entries: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Entries (column << 1 | negative) of the rows from `feature` on."""

    def apply(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], accumulate: bool, threads: int) -> None:
        """out (+)= x R of a dense block."""

    def apply_standard(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], missing: int | None, transform: ColumnTransform, feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], threads: int) -> bool:
        """
        out += x R of values that are filled, centred and scaled on the way. False: float32 does not hold what is done.
        """

    def apply_genotypes(self, packed: Annotated[NDArray, dict(device='cpu', writable=False)], samples: int, transform: ColumnTransform, feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], threads: int) -> bool:
        """
        out += x R of packed genotypes, imputed, centred and scaled on the way. False: not on this instruction set.
        """

    def apply_rows(self, indptr: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], data: Annotated[NDArray, dict(device='cpu', writable=False)], features: int, feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], accumulate: bool, threads: int) -> None:
        """out (+)= x R of a CSR block."""

    def lift(self, v: Annotated[NDArray, dict(device='cpu', writable=False)], feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], threads: int) -> None:
        """out = v R^T for the features of out."""

class Hadamard:
    """Random signs, Walsh-Hadamard transform, sampled columns."""

    def __init__(self, seed: int, size: int, columns: int, replace: bool, block: int) -> None: ...

    def samples(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """The sampled column numbers."""

    def signs(self, feature: int, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Sign bits of the features from `feature` on."""

    def apply(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], accumulate: bool, threads: int) -> None:
        """out (+)= x R of a dense block."""

    def apply_rows(self, indptr: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], data: Annotated[NDArray, dict(device='cpu', writable=False)], features: int, feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], accumulate: bool, threads: int) -> None:
        """out (+)= x R of a CSR block."""

    def lift(self, v: Annotated[NDArray, dict(device='cpu', writable=False)], feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], threads: int) -> None:
        """out = v R^T for the features of out."""

class ReadError(Exception):
    """
    A file could not be read: what the system says (or 0), and the byte where the file ended.
    """

def read_file(descriptor: int, offset: int, stride: int, out: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Fills out with rows of a file."""

def pick_genotypes(packed: Annotated[NDArray, dict(device='cpu', writable=False)], samples: int, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Some samples, whose numbers rise, packed again."""

def unpack_genotypes(packed: Annotated[NDArray, dict(device='cpu', writable=False)], samples: int, out: Annotated[NDArray[numpy.int8], dict(shape=(None, None), device='cpu')], threads: int) -> None:
    """Copies of the first allele, -127 for a missing call."""

class FileRows:
    """Rows of bytes that follow each other in a file."""

    def __init__(self, descriptor: int, offset: int, rows: int, width: int) -> None: ...

def reads_genotypes() -> bool:
    """Whether the kernels take packed genotypes from a file."""

def longest_row_sum(length: int, of_bytes: bool, threads: int) -> int:
    """
    How many additions, one after the other, lose as much as the sum of a row does, at most.
    """

def longest_line_sum(lines: int, of_bytes: bool, threads: int) -> int:
    """
    How many additions, one after the other, lose as much as a sum over columns in Fortran order does, at most.
    """

class ColumnTransform:
    """
    What is done to the values of each column: missing ones imputed, the mean subtracted, the rest scaled.
    """

    def __init__(self, mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, fill: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class Block:
    """
    Values of X: an array in C or Fortran order, or packed genotypes of so many samples, in memory or in a file.
    """

    @overload
    def __init__(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], samples: int = 0, missing: int | None = None) -> None: ...

    @overload
    def __init__(self, x: FileRows, samples: int) -> None: ...

class Moments:
    """Where the statistics of columns are written."""

    def __init__(self, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], deviation: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], nonzeros: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], missing: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

def block_dot(x: Block, transform: ColumnTransform, W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """out += X W; the scale is not applied."""

def block_tdot(x: Block, transform: ColumnTransform, A: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """out += X^T A; the scale is not applied."""

def block_normal(x: Block, transform: ColumnTransform, A: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """W = X^T A and out += X X^T A of a block with all rows."""

def block_statistics(x: Block, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, moments: Moments, threads: int) -> None:
    """
    Weight, mean, squared deviations, non-zeros and missing values of each column.
    """

def block_tile(x: Block, transform: ColumnTransform, out: Annotated[NDArray, dict(device='cpu')], threads: int) -> None:
    """The standardised values."""

def block_squares(x: Block, transform: ColumnTransform, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rows: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], columns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    rows += the sum of the squares of each row, columns += that of each column, by the weights of the rows.
    """

@overload
def all_finite(x: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> bool:
    """Whether all numbers of X are finite."""

@overload
def all_finite(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> bool: ...

def holds_byte(x: Annotated[NDArray, dict(device='cpu', writable=False)], number: int, threads: int) -> bool:
    """Whether a number is among the bytes of X."""

class Compressed:
    """A sparse block, CSR or CSC."""

    def __init__(self, indptr: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], data: Annotated[NDArray, dict(device='cpu', writable=False)]) -> None: ...

class RowWeights:
    """Weights of the rows, if any, and two parts of them that add up to all."""

    def __init__(self, all: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, coarse: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, rest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

class Totals:
    """What compressed_totals adds to, by column."""

    def __init__(self, sums: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None, zeros: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], absent: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

def compressed_gather(x: Compressed, V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], line_fill: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, index_fill: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """out[line] += value V[index]."""

def compressed_scatter(x: Compressed, V: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], line_fill: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, index_fill: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """out[index] += value V[line]."""

def compressed_totals(x: Compressed, by_row: bool, rows: int, transform: ColumnTransform, weights: RowWeights, totals: Totals, threads: int) -> None:
    """Numbers and weighted sums of what each column stores."""

def compressed_deviations(x: Compressed, by_row: bool, rows: int, transform: ColumnTransform, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, mean_and_deviation: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    deviation += weighted squares of what each column stores, less its mean.
    """

def syrk(routine: CapsuleType, x: Annotated[NDArray, dict(device='cpu', writable=False)], out: Annotated[NDArray, dict(device='cpu')], lower: bool) -> None:
    """One triangle of out, in Fortran order, += x x^T."""

def potrf(routine: CapsuleType, matrix: Annotated[NDArray, dict(device='cpu')]) -> int:
    """Cholesky factor in place of the lower triangle; returns LAPACK's info."""

def descend_rows(z: Annotated[NDArray, dict(device='cpu', writable=False)], constant: float, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], diag: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lam: float, a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], max_epochs: int, tolerance: float, seed: int) -> tuple:
    """
    Coordinate descent on a, with K = z z^T, a constant other than 0 being one column more of z, and v = z^T (y a) / lam; returns epochs and violation.
    """

def descend_gram(k: Annotated[NDArray, dict(device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], diag: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lam: float, a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], product: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], max_epochs: int, tolerance: float, seed: int) -> tuple:
    """
    Coordinate descent on a, with product = k (y a) / lam; returns epochs and violation.
    """

def descend_sparse(indptr: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], data: Annotated[NDArray, dict(device='cpu', writable=False)], constant: float, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], diag: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lam: float, a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], max_epochs: int, tolerance: float, seed: int) -> tuple:
    """The same as descend_rows for a sparse z."""

def descend_simplex(q: Annotated[NDArray, dict(device='cpu', writable=False)], group: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], max_steps: int, tolerance: float) -> tuple:
    """
    Descent by pairs on a, whose sums over groups stay as they are, with gradient = q a - c; returns steps and violation.
    """

class ParsedText:
    """What became of a piece of text."""

    @property
    def consumed(self) -> int:
        """Bytes of whole lines that are done with."""

    @property
    def lines(self) -> int: ...

    @property
    def rows(self) -> int: ...

    @property
    def values(self) -> int: ...

    @property
    def row_too_long(self) -> bool:
        """Not even one row fits into the arrays."""

    @property
    def smallest(self) -> int:
        """Smallest index as it stands in the text, or -1."""

    @property
    def largest(self) -> int:
        """Largest index as it stands in the text, or -1."""

    @property
    def largest_line(self) -> int:
        """Where it stands, in lines from the beginning of the piece."""

    @property
    def problem(self) -> str:
        """Empty, or what is wrong in the line after `lines` others."""

    @property
    def place(self) -> int:
        """Byte of the problem in the piece."""

    @property
    def cell(self) -> int:
        """Number of the cell that is wrong, or -1."""

def parse_svmlight(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, base: int, labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], indices: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> ParsedText:
    """Rows of svmlight text, as many as there are or as fit."""

def parse_cells(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, delimiter: str, roles: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Sequence[str], values: Annotated[NDArray, dict(device='cpu')], places: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')]) -> ParsedText:
    """
    Rows of cells, as many as there are or as fit: numbers, and where the texts are.
    """

def line_cells(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, delimiter: str) -> tuple:
    """Where the cells of the first line begin and end."""

def parse_number(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float | None:
    """The number that the text is, or None."""

def walsh_hadamard(x: Annotated[NDArray, dict(device='cpu')], threads: int) -> None:
    """Unnormalised Walsh-Hadamard transform of each row, in place."""

def philox(counters: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Philox 4x32-10 of each counter."""

def read_all(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> int:
    """Reads every byte: the yardstick of the benchmarks."""

def supported() -> list[str]:
    """Instruction sets this CPU has, best first."""

def current() -> str:
    """The instruction set in force."""

def select(name: str) -> bool:
    """Use another instruction set; False if it is not to be had."""
