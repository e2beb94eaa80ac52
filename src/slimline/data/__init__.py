"""Data: where the rows and columns come from, and the passes over them."""

from slimline.data.block import Block, PackedGenotypes
from slimline.data.matrix import Matrix
from slimline.data.open import open_matrix
from slimline.data.progress import PassProgress, ProgressBar
from slimline.data.simulate import Genotypes, PopulationModel, simulate_genotypes, write_genotypes
from slimline.data.squares import Squares
from slimline.data.statistics import ColumnStats
from slimline.data.variants import Variants

__all__ = [
    "Block",
    "ColumnStats",
    "Genotypes",
    "Matrix",
    "PackedGenotypes",
    "PassProgress",
    "PopulationModel",
    "ProgressBar",
    "Squares",
    "Variants",
    "open_matrix",
    "simulate_genotypes",
    "write_genotypes",
]
