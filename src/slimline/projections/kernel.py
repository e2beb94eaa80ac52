"""Families that a C++ kernel applies."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, Protocol

from numpy.typing import NDArray

from slimline._kernels import thread_count
from slimline.projections.base import FloatArray, Projection


class Kernel(Protocol):
    """What the C++ object behind a projection can do."""

    def apply(self, x: Any, feature: int, scale: float, out: Any, accumulate: bool, threads: int) -> None:
        """Write x R to `out`, or add it."""

    def lift(self, v: Any, feature: int, scale: float, out: Any, threads: int) -> None:
        """Write v Rᵀ for the features of `out`, from `feature` on."""


class KernelProjection(Projection):
    """A projection whose products never see R written out whole."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """The factor between the values that the kernel draws and the entries of R."""

    @cached_property
    @abstractmethod
    def _native(self) -> Kernel:
        """The kernel of this projection; made when first used, never pickled."""

    def _kernel_row(self, feature: int) -> int:
        """Return the number of the kernel's row that belongs to a feature."""
        return feature

    def _apply_dense(self, x: NDArray[Any], feature: int, out: FloatArray, accumulate: bool) -> None:
        self._native.apply(x, self._kernel_row(feature), self.scale, out, accumulate, thread_count())

    def _lift(self, v: FloatArray, feature: int, out: FloatArray) -> None:
        self._native.lift(v, self._kernel_row(feature), self.scale, out, thread_count())
