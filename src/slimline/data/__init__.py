"""Data: where the rows and columns come from."""

from slimline.data.simulate import Genotypes, simulate_genotypes

__all__ = ["Genotypes", "simulate_genotypes"]
