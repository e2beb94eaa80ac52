"""`slimline`, telling a file how many bytes of the data it reads: for tests that kill it."""

import os
import sys
import time
from importlib import import_module

from slimline import cli
from slimline.data import _files as files
from slimline.data.formats import _plink as plink

# What a fit imports on its way, which takes longer than the fit: here, so that no process need do it again.
for _module in (
    *("rich.live", "rich.progress", "rich.table", "sklearn.model_selection", "safetensors.numpy"),
    *("slimline.cli._app", "slimline.cli._fit_job", "slimline.cli._fit_view", "slimline.cli._fit_view"),
    *(
        "slimline.estimators._certified_classifier_cv",
        "slimline.report._build",
        "slimline.data.formats._delimited",
    ),
):
    import_module(_module)


def fit_that_tells(folder, log, *arguments):
    """Run `slimline fit` in a folder; its words go to log.txt."""
    os.chdir(folder)
    said = os.open(f"{log}.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(said, 1), os.dup2(said, 2)
    told_to = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    read_into = files.OpenFile.read_into

    def told(self, out, *arguments, **options):
        result = read_into(self, out, *arguments, **options)
        if self._file.path.suffix == ".bed" and out.nbytes > 1 << 16:  # a block: not names, and no piece for the digest
            os.write(told_to, f"{out.nbytes}\n".encode())
            time.sleep(0.002)  # so that there is something to kill
        return result

    files.OpenFile.read_into = told
    plink.BLOCK_BYTES = 1 << 17  # many blocks in a pass over few variants, to be killed in the middle of one
    sys.argv = ["slimline", "fit", *arguments]
    cli.main()
