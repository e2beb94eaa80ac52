"""Write what is frozen anew, by hand, after a deliberate change: `python -m tests.frozen.write PART…`.

PART is `surface` (names, signatures, options, JSON keys: surface.json), `fits` (bits of weights and certificates:
fits.json), or `models` (model files and what they answer). Look at the difference before it is committed: it is what
users will notice. Model files of a released version are never written again; new ones are added beside them.
"""

import json
import sys
import tempfile
from pathlib import Path

from tests.frozen import models
from tests.frozen.fits import fits
from tests.frozen.surface import surface, text

FOLDER = Path(__file__).parent
PARTS = ("surface", "fits", "models")


def main(parts: list[str]) -> None:
    """Write some of the parts."""
    if not parts or not set(parts) <= set(PARTS):
        raise SystemExit(f"usage: python -m tests.frozen.write {{{','.join(PARTS)}}} …")
    if "surface" in parts:
        (FOLDER / "surface.json").write_text(text(surface()), encoding="utf-8")
    if "fits" in parts:
        (FOLDER / "fits.json").write_text(text(fits()), encoding="utf-8")
    if "models" in parts:
        models.FOLDER.mkdir(exist_ok=True)
        found = {}
        for name in models.MODELS:
            with tempfile.TemporaryDirectory() as folder:
                models.write(name, Path(folder))
            with tempfile.TemporaryDirectory() as folder:
                found[name] = models.answers(name, Path(folder))
        (models.FOLDER / "answers.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
