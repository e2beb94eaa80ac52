"""What a fit that was killed goes on from."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from slimline.cli.fitting.samples import Samples


def resume_folder(model: Path) -> Path:
    """Return the folder beside a model file that holds what is needed to go on.

    Parameters
    ----------
    model : Path
        The model file.

    Returns
    -------
    folder : Path
        It is there while a fit runs, and after one that was killed.
    """
    return model.with_name(model.name + ".resume")


def job_key(path: Path, samples: Samples, settings: dict[str, Any]) -> str:
    """Return a text that is the same only for a fit that computes the same.

    Files of labels need no place in it since the labels have one; names of features decide nothing.

    Parameters
    ----------
    path : Path
        The data.
    samples : Samples
        Rows and labels.
    settings : dict
        Everything else that decides what the passes compute.

    Returns
    -------
    key : str
        JSON.
    """
    from slimline import __version__
    from slimline._kernels import instruction_set, thread_count

    labels = hashlib.sha256(np.char.encode(samples.y_labelled.astype(str), "utf-8").tobytes()).hexdigest()
    key = {
        "slimline": __version__,
        "kernels": instruction_set(),
        "threads": thread_count(),  # sums are taken in another order
        "data": samples.train.fingerprint,
        "files": _times(path),
        "labels": labels,
        **settings,
    }
    return json.dumps(key, sort_keys=True)


def _times(path: Path) -> str:
    """Return a digest of size and times of change of every file: the fingerprint looks at pieces of them only."""
    from slimline.data.digest import digest
    from slimline.data.folders import DataFolder

    if path.is_dir():
        files = [Path(file.path) for file in DataFolder(path).files()]
    else:
        stem = path.with_suffix("") if path.suffix.lower() == ".bed" else path
        genotypes = (stem.with_name(f"{stem.name}.{ending}") for ending in ("bim", "fam"))
        files = [path, *(file for file in genotypes if file.exists())]
    return digest(*sorted((os.path.relpath(file, path.parent), *_state(file.stat())) for file in files))


def _state(state: os.stat_result) -> tuple[int, ...]:
    # whoever writes into a file can set back the second time, but not the third
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns
