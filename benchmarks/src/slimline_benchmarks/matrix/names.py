"""Names of the contenders, as the table shows them and the targets refer to them."""

READING = "reading X"
BLOCKS = "reading blocks"
NORMAL_BLOCKS = "reading for normal"
EVERY_BYTE = "reading every byte"
GEMM_SINGLE = "GEMM float32"
GEMM_DOUBLE = "GEMM float64"

#: How the columns are seen: as stored (missing calls are 0), standardised, or standardised with the statistics to find.
RAW, STANDARDISED, FIRST = "raw", "std", "std + stats"

CW, OSNAP, SIGN, SRHT = "CW", "OSNAP", "sign", "SRHT"

NUMPY = "NumPy"
NUMPY_BLOCKS = "NumPy by blocks"
SCIPY = "SciPy"
SCALER = "scikit-learn StandardScaler"
DASK = "dask"
BED_READER = "bed-reader + NumPy"
BED_READER_BLOCKS = "bed-reader by blocks"


def ours(operation: str, view: str = "", k: int | None = None) -> str:
    """Return the name of one of ours, such as "dot k=8, std"."""
    size = "" if k is None else f" k={k}"
    return f"{operation}{size}, {view}" if view else operation + size


def task(view: str, k: int | None = None, family: str = "") -> str:
    """Return what ours and a peer must have in common to be compared."""
    return ", ".join(part for part in (view, family, "" if k is None else f"k={k}") if part)


def peer(library: str, k: int | None = None) -> str:
    """Return the name of a peer, such as "NumPy k=8"."""
    return library if k is None else f"{library} k={k}"
