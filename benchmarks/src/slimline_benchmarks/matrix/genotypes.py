"""The simulated people: written once as PLINK and as int8 `.npy`, then opened in each storage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slimline.data import open_matrix, write_genotypes
from slimline.data._blocks import MISSING_CALL
from slimline.data.formats._dense import DenseMatrix
from slimline_benchmarks.matrix.files import require_reader, require_room
from slimline_benchmarks.matrix.subject import Subject

#: As in the 1000 Genomes project.
_REGIONS, _POPULATIONS = 5, 26
_MISSING_RATE = 0.01
_SEED = 1
#: Entries that are turned into float32 at a time.
_PIECE = 1 << 24


class GenotypeSet:
    """People × variants, in a folder.

    Parameters
    ----------
    folder : Path
        Where the files are, or are written when the first case asks for them.
    samples, features : int
        People and variants.
    single_features : int
        Variants of the float32 array.
    """

    def __init__(self, folder: Path, samples: int, features: int, single_features: int) -> None:
        self.samples, self.features, self.single_features = samples, features, min(single_features, features)
        self._stem = folder / f"genotypes-{samples}x{features}"
        self._held: tuple[str, Any] = ("", None)

    @property
    def npy(self) -> Path:
        """Return the int8 file, samples by rows."""
        return self._stem.with_name(self._stem.name + ".npy")

    @property
    def bed(self) -> Path:
        """Return the PLINK file; `.bim` and `.fam` lie beside it."""
        return self._stem.with_name(self._stem.name + ".bed")

    def require_written(self) -> None:
        """Write the files, unless they are there."""
        beside = [self.bed.with_suffix(ending) for ending in (".bim", ".fam")]
        if not all(path.exists() for path in (self.npy, self.bed, *beside)):
            require_room(self._stem.parent, int(1.3 * self.samples * self.features))
            write_genotypes(
                self._stem,
                self.samples,
                self.features,
                n_regions=_REGIONS,
                n_populations=_POPULATIONS,
                missing_rate=_MISSING_RATE,
                seed=_SEED,
                formats=("plink", "npy"),
                overwrite=True,
            )

    def in_memory(self) -> Subject:
        """Return the int8 array."""

        def load() -> NDArray[np.int8]:
            return np.asarray(np.load(self.npy))

        array = self._hold("int8", load)
        return Subject(DenseMatrix(array, "genotypes", missing=MISSING_CALL), array, filled=True)

    def single(self) -> Subject:
        """Return some of the variants as float32, with NaN for missing calls replaced by 0: some data have none."""

        def load() -> NDArray[np.float32]:
            mapped = np.load(self.npy, mmap_mode="r")
            array = np.empty((self.samples, self.single_features), dtype=np.float32)
            step = max(1, _PIECE // self.single_features)
            for start in range(0, self.samples, step):
                rows = slice(start, start + step)
                array[rows] = mapped[rows, : self.single_features]
                np.maximum(array[rows], 0.0, out=array[rows])
            return array

        array = self._hold("float32", load)
        return Subject(DenseMatrix(array, "genotypes"), array)

    def npy_file(self) -> Subject:
        """Return the int8 file."""
        self._release()
        return Subject(open_matrix(self.npy, missing=MISSING_CALL), self.npy, filled=True)

    def plink_file(self) -> Subject:
        """Return the PLINK file."""
        self._release()
        require_reader("plink")
        return Subject(open_matrix(self.bed), self.bed, filled=True)

    def _hold(self, name: str, load: Callable[[], Any]) -> Any:
        """Keep one array at a time: the next case often wants the same."""
        if self._held[0] != name:
            self._release()
            self._held = (name, load())
        return self._held[1]

    def _release(self) -> None:
        self._held = ("", None)
