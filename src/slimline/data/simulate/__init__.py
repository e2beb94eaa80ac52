"""Simulated genotypes: populations that drifted apart, in memory or written to files of any size."""

from slimline.data.simulate.in_memory import Genotypes, simulate_genotypes
from slimline.data.simulate.model import PopulationModel
from slimline.data.simulate.to_files import output_paths, write_genotypes

__all__ = ["Genotypes", "PopulationModel", "output_paths", "simulate_genotypes", "write_genotypes"]
