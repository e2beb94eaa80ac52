"""People and their populations: matched by name, not by order."""

import numpy as np
import pytest

from slimline.data import open_matrix
from slimline.errors import DataError, FileFormatError
from slimline_papers.sources import load
from slimline_papers.sources.genotypes import read_genotypes

#: Families and people; a name that occurs in two families, and one without a population.
PEOPLE = [("F1", "A"), ("F2", "A"), ("F2", "B"), ("F3", "C")]
LABELS = {
    ("F1", "A"): ("CEU", "EUR"),
    ("F2", "A"): ("YRI", "AFR"),
    ("F2", "B"): ("NA", "NA"),
    ("F3", "C"): ("CHB", "EAS"),
}
#: Two bits a call: 2, 1, 0 and missing copies of allele 1.
CODES = {2: 0b00, -1: 0b01, 1: 0b10, 0: 0b11}
CALLS = np.array([[2, 0, 1], [0, 1, 2], [1, 1, 1], [0, 0, -1]])


@pytest.fixture
def folder(tmp_path):
    bytes_of = [sum(CODES[call] << 2 * place for place, call in enumerate(variant)) for variant in CALLS.T.tolist()]
    (tmp_path / "set.bed").write_bytes(bytes([0x6C, 0x1B, 1, *bytes_of]))
    (tmp_path / "set.bim").write_text("".join(f"1 rs{j} 0 {j + 1} A G\n" for j in range(3)))
    (tmp_path / "set.fam").write_text("".join(f"{family} {person} 0 0 0 -9\n" for family, person in PEOPLE))
    write_labels(tmp_path, PEOPLE)
    return tmp_path


def write_labels(folder, people, columns="FID\tIID\tpopulation\tregion"):
    lines = ["\t".join([*person, *LABELS[person]]) for person in people]
    (folder / "set.labels.tsv").write_text("\n".join([columns, *lines]) + "\n")


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]])
def test_labels_in_any_order(folder, order):
    write_labels(folder, [PEOPLE[place] for place in order])
    genotypes = read_genotypes(folder, "set")
    assert genotypes.populations.tolist() == ["CEU", "YRI", "CHB"]
    assert genotypes.regions.tolist() == ["EUR", "AFR", "EAS"]
    assert genotypes.matrix.shape == (3, 3)
    assert genotypes.matrix.sample_ids[0] == open_matrix(folder / "set.bed").sample_ids[0]


def test_somebody_without_a_label(folder):
    write_labels(folder, [("F1", "A"), ("F2", "B"), ("F3", "C")])
    with pytest.raises(
        DataError, match=r"set\.labels\.tsv has no line for 1 of the 4 people of set\.fam.*F2, person A"
    ):
        read_genotypes(folder, "set")


def test_somebody_with_two(folder):
    lines = (folder / "set.labels.tsv").read_text()
    (folder / "set.labels.tsv").write_text(lines + "F1\tA\tCEU\tEUR\n")
    assert len(read_genotypes(folder, "set").populations) == 3  # twice the same
    (folder / "set.labels.tsv").write_text(lines + "F1\tA\tTSI\tEUR\n")
    with pytest.raises(DataError, match="two labels for family F1, person A"):
        read_genotypes(folder, "set")


def test_a_table_of_another_kind(folder):
    write_labels(folder, PEOPLE, columns="FID\tIID\tpop\tregion")
    with pytest.raises(FileFormatError, match=r"set\.labels\.tsv has no column population"):
        read_genotypes(folder, "set")


@pytest.mark.data
@pytest.mark.parametrize("name, people, populations", [("hapmap3", 957, 11), ("thousand_genomes", 1_047, 14)])
def test_the_original_sets(name, people, populations, data_dir):
    genotypes = load(name, data_dir)
    assert genotypes.matrix.shape[0] == len(genotypes.populations) == len(genotypes.regions) == people
    assert len(set(genotypes.populations)) == populations
