"""What a fit that was killed goes on from."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from slimline.cli.fitting.samples import Samples
    from slimline.model_files import PassFiles


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


def pass_files(model: Path, path: Path, samples: Samples, settings: dict[str, Any]) -> PassFiles:
    """Return the keeper of the passes of a fit.

    Parameters
    ----------
    model : Path
        The model file that will be written.
    path : Path
        The data file.
    samples : Samples
        Rows and labels.
    settings : dict
        Everything else that decides what the passes compute.

    Returns
    -------
    files : PassFiles
        With what an earlier run has left, if data and settings are the same.
    """
    from slimline import __version__
    from slimline._kernels import instruction_set, thread_count
    from slimline.model_files import PassFiles

    labels = hashlib.sha256(np.char.encode(samples.y_labelled.astype(str), "utf-8").tobytes()).hexdigest()
    key = {
        "slimline": __version__,
        "kernels": instruction_set(),
        "threads": thread_count(),  # sums are taken in another order
        "data": samples.train.fingerprint,
        "files": _stamps(path),
        "labels": labels,
        **settings,
    }
    return PassFiles(resume_folder(model), json.dumps(key, sort_keys=True))


def _stamps(path: Path) -> list[tuple[str, int, int]]:
    """Return size and time of change of the files: the fingerprint looks at pieces of them only."""
    found = []
    for file in [path, *(path.with_suffix(ending) for ending in (".bim", ".fam") if path.suffix == ".bed")]:
        if file.exists():
            state = file.stat()
            found.append((file.name, state.st_size, state.st_mtime_ns))
    return found
