"""HapMap3 and 1000 Genomes, as PLINK files with the populations beside them."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np

from slimline.data import open_matrix
from slimline.data.formats._plink import PlinkMatrix
from slimline.errors import DataError, FileFormatError
from slimline_papers.sources.records import Genotypes
from slimline_papers.sources.source import Source


def read_genotypes(folder: Path, stem: str) -> Genotypes:
    """Read people and variants.

    Parameters
    ----------
    folder : Path
        With STEM.bed, STEM.bim, STEM.fam and STEM.labels.tsv: columns FID, IID, population and region, everybody of
        the .fam file once, in any order; NA where a population is not known.
    stem : str
        How the files' names begin.

    Returns
    -------
    genotypes : Genotypes
        Of those whose population is known.
    """
    matrix = cast(PlinkMatrix, open_matrix(folder / f"{stem}.bed"))
    labels = _labels(folder / f"{stem}.labels.tsv")
    people = list(zip(*matrix.families_and_people, strict=True))
    nameless = [person for person in people if person not in labels]
    if nameless:
        raise DataError(
            f"{folder / stem}.labels.tsv has no line for {len(nameless)} of the {len(people)} people of {stem}.fam, "
            f"such as family {nameless[0][0]}, person {nameless[0][1]}: add them, with NA where nothing is known."
        )
    populations, regions = (np.array(column) for column in zip(*(labels[person] for person in people), strict=True))
    known = np.flatnonzero(populations != "NA")
    return Genotypes(matrix.rows(known), populations[known], regions[known])


def _labels(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Return population and region by family and person."""
    labels: dict[tuple[str, str], tuple[str, str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t")
        if absent := {"FID", "IID", "population", "region"} - set(reader.fieldnames or ()):
            raise FileFormatError(f"{path} has no column {' or '.join(sorted(absent))}, parted by tabs.")
        for row in reader:
            person = row["FID"], row["IID"]
            if labels.setdefault(person, (row["population"], row["region"])) != (row["population"], row["region"]):
                raise DataError(f"{path} has two labels for family {person[0]}, person {person[1]}: leave one.")
    return labels


_HAPMAP_HGDP = "HapMap-HGDP, 2,250 people × 492,516 variants"
HAPMAP3 = Source(
    name="hapmap3",
    folder="hapmap3_1kg",
    about="HapMap phase 3, 957 people of 11 populations and 5 regions × 14,389 variants (thinned by G. Abraham)",
    files={
        "hapmap3.bed": "3919b6d83d2c4bd6607241b86a5734f27f69454ddbc88b947ff50a2b5a47fc06",
        "hapmap3.bim": "605dc9f8ebc7d24660e81b7e6aeb9283ba33f34cc198be74756aa819fd094fd5",
        "hapmap3.fam": "d70ddafd3caed0b974e5029f550817a822a8afafe277920633c28766069ec509",
        "hapmap3.labels.tsv": "8c5ec2c73f05a36f22c77d9eedb042cf47ee351f233b7f80716e0537f91c62fa",
    },
    read=partial(read_genotypes, stem="hapmap3"),
    stand_in_for=_HAPMAP_HGDP,
)
THOUSAND_GENOMES = Source(
    name="thousand_genomes",
    folder="hapmap3_1kg",
    about="1000 Genomes phase 1, 1,047 people of 14 populations and 4 regions × 14,079 variants of HapMap 3",
    files={
        "1kg_phase1_overlap.bed": "fb6559281a206abb3a552f8dcd6078d069b48bb364b54eea4694d16c1ca67b66",
        "1kg_phase1_overlap.bim": "ded8b5e781b9941722498eb8972efa705b87ab9e4b37cd6cd51652cc7a300ca4",
        "1kg_phase1_overlap.fam": "3403df66dca6a3241e75c371ebfe9ac98e5c3a130b6ae21eae343909aca5a3e1",
        "1kg_phase1_overlap.labels.tsv": "7fce36a4ff53c38e543ede6de1b3c5156a00e063133332781c3a562bbf922338",
    },
    read=partial(read_genotypes, stem="1kg_phase1_overlap"),
    stand_in_for=_HAPMAP_HGDP,
)
