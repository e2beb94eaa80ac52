"""The kernels of slimline."""

from typing import Annotated

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

    def __init__(self, hash: str, seed: int, columns: int, nonzeros: int, width: int, threshold: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], guide: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def count(self, feature: int, features: int) -> int:
        """How many non-zeros the rows from `feature` on have."""

    def rows(self, feature: int, pointer: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], entries: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Entries (column << 1 | negative) of the rows from `feature` on."""

    def apply(self, x: Annotated[NDArray, dict(device='cpu', writable=False)], feature: int, scale: float, out: Annotated[NDArray, dict(device='cpu')], accumulate: bool, threads: int) -> None:
        """out (+)= x R of a dense block."""

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
