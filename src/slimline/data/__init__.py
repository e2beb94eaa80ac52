"""Data: matrices in memory and in files, passes over them, and simulated genotypes."""

from slimline.data._blocks import ALL_BLOCKS, Block, BlockRequest, PackedGenotypes
from slimline.data._matrix import Matrix
from slimline.data._names import Variants
from slimline.data._open import open_matrix
from slimline.data._passes import CheckpointStore, PassProgress, ProgressBar
from slimline.data._products import Squares
from slimline.data._simulate import Genotypes, PopulationModel, simulate_genotypes
from slimline.data._simulate_files import write_genotypes
from slimline.data._statistics import ColumnStats
from slimline.data._storage import StorageTraits

__all__ = [
    "ALL_BLOCKS",
    "Block",
    "BlockRequest",
    "CheckpointStore",
    "ColumnStats",
    "Genotypes",
    "Matrix",
    "PackedGenotypes",
    "PassProgress",
    "PopulationModel",
    "ProgressBar",
    "Squares",
    "StorageTraits",
    "Variants",
    "open_matrix",
    "simulate_genotypes",
    "write_genotypes",
]
