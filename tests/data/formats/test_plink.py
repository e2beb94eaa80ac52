import contextlib
import errno
import os
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slimline import open_matrix
from slimline._kernels import thread_count
from slimline.data import _products as products
from slimline.data.formats import _plink as plink
from slimline.data.formats._plink import open_plink
from slimline.errors import FileChangedError, FileFormatError, InvalidParameterError, NonFiniteError
from slimline.projections import HashEmbedding, SubsampledHadamard
from slimline.testing._moments import as_dense
from tests.data.plink_files import bed_bytes, random_genotypes, unpacked, write_plink


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 31])
def test_every_genotype_is_read(tmp_path, n):
    genotypes = random_genotypes(n, 23, seed=n)
    X = open_matrix(write_plink(tmp_path / "a", genotypes))
    assert X.shape == (n, 23) and X.dtype == np.int8 and X.whole_columns
    assert np.array_equal(unpacked(X), genotypes)


def test_the_four_codes_by_hand(tmp_path):
    path = write_plink(tmp_path / "a", np.zeros((4, 1), dtype=np.int8))
    path.write_bytes(b"\x6c\x1b\x01" + bytes([0b11_10_01_00]))  # the first person has the lowest bits
    assert unpacked(open_plink(path))[:, 0].tolist() == [2, -127, 1, 0]


def test_panels_are_cut_and_put_together(tmp_path, monkeypatch):
    genotypes = random_genotypes(10, 1000)
    path = write_plink(tmp_path / "a", genotypes)
    monkeypatch.setattr(plink, "BLOCK_BYTES", 3 * 64 // plink._BLOCKS_TOGETHER)
    X = open_plink(path)
    widths = [block.values.shape[1] for block in X.blocks()]
    assert len(widths) > 10 and set(widths[:-1]) == {64}
    assert np.array_equal(unpacked(X), genotypes)
    values = np.where(genotypes < 0, 0.0, genotypes)
    filled = X.standardised(centre=None, scale=None, fill=0.0)
    assert np.array_equal(filled.tdot(np.ones(10)), values.sum(axis=0))
    assert X.passes == 1


def test_the_kernels_have_all_threads_where_reading_is_light(tmp_path, monkeypatch):
    monkeypatch.setenv("SLIMLINE_NUM_THREADS", "4")
    seen, add_tdot = [], products.add_tdot

    def told(*arguments):
        seen.append(thread_count())
        add_tdot(*arguments)

    monkeypatch.setattr(products, "add_tdot", told)
    genotypes = random_genotypes(10, 100)
    np.save(tmp_path / "a.npy", np.maximum(genotypes, 0))
    packed, stored = open_matrix(write_plink(tmp_path / "a", genotypes)), open_matrix(tmp_path / "a.npy")
    filled = packed.standardised(centre=None, scale=None, fill="mean")
    for matrix, threads in ((filled, 4), (filled.rows([3, 1]), 4), (filled.columns([5, 7]), 4), (stored, 2)):
        seen.clear()
        matrix.tdot(np.ones(matrix.shape[0]))
        assert set(seen) == {threads}


def test_names_alleles_and_positions_travel_along(tmp_path):
    bim = "1 rsA 0 5 A G\n\n  X\trsB  0.25\t17   AAT\tC\r\n2 rsA 1e-3 2147483648 0 T"
    fam = "f1 p1 0 0 1 -9\nf2\tp2\t0\t0\t2\t-9\n"
    X = open_plink(write_plink(tmp_path / "a", random_genotypes(2, 3), bim=bim, fam=fam))
    assert list(X.feature_names) == ["rsA", "rsB", "rsA"] and X.feature_names[-1] == "rsA"
    assert list(X.sample_ids) == ["p1", "p2"]
    v = X.variants
    assert v.chromosome.tolist() == ["1", "X", "2"]
    assert v.position.tolist() == [5, 17, 2147483648] and v.position.dtype == np.int64
    assert v.cm.tolist() == [0.0, 0.25, 0.001]
    assert v.allele1.tolist() == ["A", "AAT", "0"] and v.allele2.tolist() == ["G", "C", "T"]
    assert X.variants is v
    assert X.rows([1]).variants is v and X.standardised().rows([0]).variants is v
    assert v.of([2, 0]).chromosome.tolist() == ["2", "1"] and v.of(slice(1, 2)).allele1.tolist() == ["AAT"]
    assert X.labels is None
    assert open_matrix(np.ones((2, 3))).variants is None


def test_names_are_a_sequence(tmp_path):
    X = open_plink(write_plink(tmp_path / "a", random_genotypes(3, 9000 + 5)))
    names = X.feature_names
    expected = [f"rs{j}" for j in range(9005)]
    assert names == expected and list(names) == expected and names == pickle.loads(pickle.dumps(names))
    assert np.asarray(names).tolist() == expected
    assert names[8190:8195] == expected[8190:8195] and names[np.int64(7)] == "rs7" and "rs9004" in names
    assert names != expected[:-1] and names != open_plink(tmp_path / "a.bed").sample_ids
    for outside in (9005, -9006):
        with pytest.raises(IndexError):
            names[outside]


def test_names_that_are_no_utf8_are_shown_all_the_same(tmp_path):
    path = write_plink(tmp_path / "a", random_genotypes(2, 1))
    (tmp_path / "a.bim").write_bytes(b"1 rs\xff\xc3\xa9 0 5 A G\n")
    assert list(open_plink(path).feature_names) == [r"rs\xffé"]


def test_names_longer_than_a_piece_of_the_file(tmp_path):
    long = "A" * 1_500_000
    bim = f"1 rs1 0 5 A {long}\n1 rs2 0 6 {long} A\n1 rs3 0 7 A C\n"
    X = open_plink(write_plink(tmp_path / "a", random_genotypes(2, 3), bim=bim))
    assert list(X.feature_names) == ["rs1", "rs2", "rs3"]
    assert [len(a) for a in X.variants.allele1] == [1, 1_500_000, 1]


def test_a_file_without_lines_is_refused(tmp_path):
    path = write_plink(tmp_path / "a", random_genotypes(2, 3))
    (tmp_path / "a.bim").write_bytes(b"x" * (17 << 20))
    with pytest.raises(FileFormatError, match=r"a\.bim has a line of more than"):
        open_plink(path)


@pytest.mark.parametrize(
    "phenotypes, labels",
    [
        (["-9", "-9", "0"], None),
        (["NA", "nan", "-9"], None),
        (["1", "2", "2"], [1, 2, 2]),
        (["1", "2", "0"], [1.0, 2.0, None]),
        (["0", "3", "4"], [0, 3, 4]),
        (["0.5", "-9", "1e2"], [0.5, None, 100.0]),
        (["case", "control", "-9"], ["case", "control", "-9"]),
    ],
)
def test_labels_are_the_phenotypes(tmp_path, phenotypes, labels):
    fam = "".join(f"f p{i} 0 0 0 {p}\n" for i, p in enumerate(phenotypes))
    found = open_plink(write_plink(tmp_path / "a", random_genotypes(3, 2), fam=fam)).labels
    if labels is None:
        assert found is None
    else:
        shown = [None if isinstance(x, float) and np.isnan(x) else x for x in found.tolist()]
        assert shown == labels and [type(x) for x in shown] == [type(x) for x in labels]


def test_people_of_the_same_name_are_told_apart_by_their_family(tmp_path):
    fam = "a 1 0 0 0 -9\na 2 0 0 0 -9\nb 1 0 0 0 -9\n"
    X = open_plink(write_plink(tmp_path / "a", random_genotypes(3, 2), fam=fam))
    assert list(X.sample_ids) == ["a_1", "a_2", "b_1"]


def test_names_that_would_be_equal_are_joined_otherwise(tmp_path):
    fam = "a_b c 0 0 1 -9\na b_c 0 0 1 -9\nx c 0 0 1 -9\n"
    X = open_matrix(write_plink(tmp_path / "a", random_genotypes(3, 2), fam=fam))
    assert list(X.sample_ids) == ["a_b c", "a b_c", "x c"]


def test_the_same_person_twice_is_refused(tmp_path):
    fam = "f p 0 0 1 -9\n\nf q 0 0 1 -9\ng p 0 0 1 -9\nf p 0 0 2 -9\n"
    path = write_plink(tmp_path / "a", random_genotypes(4, 2), fam=fam)
    with pytest.raises(FileFormatError, match=r"a\.fam, lines 1 and 5: the same person twice, 'f p'"):
        open_matrix(path)


@pytest.mark.parametrize("ending", ["bim", "fam"])
def test_companions_that_are_no_text_are_refused(tmp_path, ending):
    path = write_plink(tmp_path / "a", random_genotypes(3, 2))
    companion = path.with_suffix(f".{ending}")
    text = companion.read_bytes()
    companion.write_bytes(b"\xef\xbb\xbf" + text)
    marked = open_matrix(path)
    assert marked.feature_names[0] == "rs0" and list(marked.sample_ids) == ["I0", "I1", "I2"]
    assert marked.families_and_people[0][0] == "F0" and marked.variants.chromosome[0] == "1"
    for harm, message in ((b"\xff\xfe", "UTF-16"), (b"\0", "byte 0 is 0")):
        companion.write_bytes(harm + text)
        with pytest.raises(FileFormatError, match=rf"a\.{ending}.*{message}"):
            open_matrix(path)


def test_other_names_of_the_companions(tmp_path):
    genotypes = random_genotypes(3, 2)
    write_plink(tmp_path / "a", genotypes)
    bed = (tmp_path / "a.bed").rename(tmp_path / "genotypes.bin")
    with pytest.raises(FileNotFoundError, match=r"genotypes\.bin\.bim.*given with bim="):
        open_matrix(bed, format="plink")
    options = {"bim": tmp_path / "a.bim", "fam": str(tmp_path / "a.fam")}
    assert np.array_equal(unpacked(open_matrix(bed, format="plink", **options)), genotypes)
    with pytest.raises(InvalidParameterError, match="map"):
        open_matrix(bed, format="plink", map="x", **options)
    with pytest.raises(FileNotFoundError, match=r"none\.bed: no such file"):
        open_plink(tmp_path / "none.bed")


# What is wrong is said --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head, message",
    [
        (b"\x6c\x1b\x00", r"ordered by people.*plink --bfile a --make-bed"),
        (b"\x6c\x1b\x02", r"byte 2 is 02"),
        (b"chr", r"not a PLINK \.bed file: it begins with the bytes 63 68 72"),
    ],
)
def test_foreign_files_are_named(tmp_path, head, message):
    path = write_plink(tmp_path / "a", random_genotypes(5, 3))
    path.write_bytes(head + path.read_bytes()[3:])
    with pytest.raises(FileFormatError, match=message):
        open_plink(path)


@pytest.mark.parametrize("ending, line", [("bim", "1 rs1 0 5 A"), ("fam", "f1 p1 0 0 1 -9 7")])
def test_lines_with_other_fields_are_named(tmp_path, ending, line):
    path = write_plink(tmp_path / "a", random_genotypes(3, 3))
    text = tmp_path / f"a.{ending}"
    lines = text.read_text().splitlines()
    text.write_text("\n".join([lines[0], "", line, lines[2]]))
    with pytest.raises(FileFormatError, match=rf"a\.{ending}, line 3: {len(line.split())} fields instead of 6"):
        open_plink(path)


def test_the_line_is_right_beyond_the_first_piece(tmp_path):
    path = write_plink(tmp_path / "a", random_genotypes(1, 2))
    (tmp_path / "a.bim").write_text("1 rs 0 5 A C\n" * 100_000 + "1 rs 0 5 A\n" + "1 rs 0 5 A C\n" * 10)
    with pytest.raises(FileFormatError, match=r"line 100,001: 5 fields"):
        open_plink(path)


@pytest.mark.parametrize(
    "line, message",
    [
        ("1 rs1 0 far A C", "line 4: the position is 'far', not a whole number"),
        ("1 rs1 0 99999999999999999999 A C", "line 4: the position is '9999"),
        ("1 rs1 near 5 A C", "line 4: the position in centimorgans is 'near', not a number"),
        ("1 rs1 0 " + "1" * 100 + " A C", "line 4: the position is '1111"),
    ],
)
def test_positions_that_are_no_numbers_are_named(tmp_path, line, message):
    bim = f"\n1 rs0 0 5 A C\n\n{line}\n1 rs2 0 5 A C\n"
    X = open_plink(write_plink(tmp_path / "a", random_genotypes(3, 3, missing=0), bim=bim))
    assert X.dot(np.ones(3)).shape == (3,)  # products do not need them
    with pytest.raises(FileFormatError, match=message):
        _ = X.variants


def test_sizes_that_do_not_fit_are_explained(tmp_path):
    path = write_plink(tmp_path / "a", random_genotypes(5, 3))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(FileFormatError, match=r"a\.bed ends at byte 8, .*5 people of a\.fam and 3 variants.*need 9"):
        open_plink(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(FileFormatError, match=r"a\.bed goes on after byte 9 \(it has 10\)"):
        open_plink(path)


@pytest.mark.parametrize("padding", [0b01, 0b10, 0b11])
def test_genotypes_after_the_last_person_are_noticed(tmp_path, padding):
    """5 people need as many bytes as 6: a .fam file that lost its last line shows in bits that PLINK leaves 0."""
    path = write_plink(tmp_path / "a", random_genotypes(5, 3), padding=padding)
    with pytest.raises(FileFormatError, match=r"a\.bed, byte 4: .*after the last of 5 people of a\.fam"):
        open_plink(path)


@pytest.mark.parametrize("ending", ["bim", "fam"])
def test_empty_companions_are_refused(tmp_path, ending):
    path = write_plink(tmp_path / "a", random_genotypes(5, 3))
    (tmp_path / f"a.{ending}").write_text(" \n\n")
    with pytest.raises(FileFormatError, match=rf"a\.{ending} names no"):
        open_plink(path)


@pytest.mark.parametrize("ending", ["bed", "bim", "fam"])
def test_cut_at_every_byte(tmp_path, ending):
    genotypes = random_genotypes(6, 4)
    path = write_plink(tmp_path / "a", genotypes)
    cut = tmp_path / f"a.{ending}"
    whole = cut.read_bytes()
    # What is left of the last field is a field: in these files "-" of "-9", and the end of the last line.
    harmless = {"bed": 0, "bim": 1, "fam": 2}[ending]
    for size in range(len(whole) - harmless):
        cut.write_bytes(whole[:size])
        with pytest.raises(FileFormatError, match=r"a\.(bed|bim|fam)"):
            open_plink(path)
    for size in range(len(whole) - harmless, len(whole)):
        cut.write_bytes(whole[:size])
        assert np.array_equal(unpacked(open_plink(path)), genotypes)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_bytes_never_do_worse_than_raise(tmp_path, data):
    genotypes = random_genotypes(5, 3)
    path = write_plink(tmp_path / "a", genotypes)
    for ending in data.draw(st.sets(st.sampled_from(["bed", "bim", "fam"]), min_size=1)):
        file = tmp_path / f"a.{ending}"
        content = bytearray(file.read_bytes())
        if data.draw(st.booleans()):
            content = data.draw(st.binary(max_size=60))
        else:
            for _ in range(data.draw(st.integers(1, 4))):
                content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        file.write_bytes(bytes(content))
    with contextlib.suppress(FileFormatError):
        X = open_plink(path)
        n, d = X.shape
        assert path.stat().st_size == 3 + d * -(-n // 4)
        assert len(list(X.feature_names)) == d and len(list(X.sample_ids)) == n
        assert set(np.unique(unpacked(X))) <= {-127, 0, 1, 2}
        assert X.column_stats().missing.shape == (d,)
        assert len(X.variants.position) == d


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        st.lists(st.text("ab1\x01é", min_size=1, max_size=5), min_size=6, max_size=6), min_size=1, max_size=9
    ),
    blanks=st.lists(st.sampled_from([" ", "\t", "  ", "\t \x0b", "\x0c"]), min_size=1, max_size=7),
    ends=st.lists(st.sampled_from(["\n", "\r\n", " \n\n", "\n \n"]), min_size=1, max_size=5),
)
def test_text_is_split_as_python_splits_it(tmp_path, lines, blanks, ends):
    text = ""
    for k, fields in enumerate(lines):
        text += blanks[k % len(blanks)].join(fields) + ends[k % len(ends)]
    path = write_plink(tmp_path / "a", np.zeros((2, len(lines)), dtype=np.int8))
    (tmp_path / "a.bim").write_bytes(text.encode())
    X = open_plink(path)
    expected = [line.split() for line in text.encode().split(b"\n") if line.split()]
    assert list(X.feature_names) == [fields[1].decode() for fields in expected]


# Changes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["bed", "bim", "fam"])
def test_changing_and_vanishing_files_are_noticed(tmp_path, ending):
    path = write_plink(tmp_path / "a", random_genotypes(5, 3, missing=0))
    X = open_plink(path)
    before = X.fingerprint
    file = tmp_path / f"a.{ending}"
    content = file.read_bytes()
    file.write_bytes(content + b"\n")
    for use in (lambda: X.dot(np.ones(3)), X.require_unchanged, lambda: X.fingerprint):
        with pytest.raises(FileChangedError, match=rf"a\.{ending} changed"):
            use()
    file.unlink()
    for use in (lambda: X.dot(np.ones(3)), lambda: X.fingerprint, lambda: X.standardised().gram()):
        with pytest.raises(FileChangedError, match=rf"a\.{ending} vanished"):
            use()
    file.write_bytes(content)
    assert open_plink(path).fingerprint == before  # a copy has the same


def test_bim_that_changes_before_the_variants_are_asked_for(tmp_path):
    X = open_plink(write_plink(tmp_path / "a", random_genotypes(5, 3)))
    (tmp_path / "a.bim").write_text("1 rs1 0 5 A C\n")
    with pytest.raises(FileChangedError, match=r"a\.bim changed"):
        _ = X.variants


def test_fingerprint_sees_each_file(tmp_path):
    genotypes = random_genotypes(5, 3)
    first = open_plink(write_plink(tmp_path / "a", genotypes)).fingerprint
    other = genotypes.copy()
    other[0, 0] = (other[0, 0] + 1) % 3
    assert open_plink(write_plink(tmp_path / "b", genotypes)).fingerprint == first
    assert open_plink(write_plink(tmp_path / "c", other)).fingerprint != first
    fam = "".join(f"F{i} J{i} 0 0 1 -9\n" for i in range(5))
    assert open_plink(write_plink(tmp_path / "d", genotypes, fam=fam)).fingerprint != first


def test_bed_cut_short_during_a_pass(tmp_path, monkeypatch):
    path = write_plink(tmp_path / "a", random_genotypes(5, 200))
    monkeypatch.setattr(plink, "BLOCK_BYTES", 32)
    blocks = open_plink(path).blocks()
    next(blocks)
    os.truncate(path, 60)
    with pytest.raises((FileChangedError, FileFormatError), match=r"a\.bed"):
        list(blocks)


def test_missing_calls_are_named_with_person_and_variant(tmp_path):
    genotypes = random_genotypes(5, 30, missing=0)
    genotypes[3, 17] = -127
    X = open_plink(write_plink(tmp_path / "a", genotypes))
    with pytest.raises(NonFiniteError, match=r"row 3 \(I3\), column 17 \(rs17\)"):
        X.dot(np.ones(30))


def test_errors_of_the_disk_are_not_hidden(tmp_path, monkeypatch):
    path = write_plink(tmp_path / "a", random_genotypes(5, 3))

    def broken(*args, **kwargs):
        raise OSError(errno.EIO, "the disk is broken")

    monkeypatch.setattr("slimline.data._files.OpenFile.read_into", broken)
    with pytest.raises(OSError, match="the disk is broken"):
        open_plink(path)


# Products ------------------------------------------------------------------------------------------------


def explicit(genotypes, standardise):
    """Return X as float64, filled with 0, or with the mean, centred and scaled."""
    X = np.where(genotypes < 0, np.nan, genotypes.astype(np.float64))
    if not standardise:
        return np.nan_to_num(X, nan=0.0)
    mean, std = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    return (np.where(np.isnan(X), mean, X) - mean) / np.where(std == 0, 1.0, std)


def check_products(X, genotypes, standardise, seed=0):
    """Compare every product with NumPy: sums of N terms in float64, so N ulps of the sums of absolute values."""
    view = X.standardised(fill="mean") if standardise else X.standardised(centre=None, scale=None, fill=0.0)
    exact = explicit(genotypes, standardise)
    n, d = exact.shape
    rng = np.random.default_rng(seed)
    W, A = rng.normal(size=(d, 3)), rng.normal(size=(n, 3))
    eps = np.finfo(np.float64).eps
    # a column of mean m and deviation s is known to about (m/s + 1) eps, which a sum of terms takes over
    size = np.abs(exact) + (8.0 if standardise else 0.0)
    assert np.all(np.abs(view.dot(W) - exact @ W) <= 4 * d * eps * (size @ np.abs(W)))
    assert np.all(np.abs(view.tdot(A) - exact.T @ A) <= 4 * n * eps * (size.T @ np.abs(A)))
    both = view.normal(A)
    assert np.all(np.abs(both[0] - exact.T @ A) <= 4 * n * eps * (size.T @ np.abs(A)))
    assert np.all(np.abs(both[1] - exact @ (exact.T @ A)) <= 4 * (n + d) * eps * (size @ (size.T @ np.abs(A))))
    gram = view.gram()
    norms = np.linalg.norm(size, axis=1)  # their products are above the sums of absolute values
    assert np.all(np.abs(gram - exact @ exact.T) <= 4 * d * eps * np.outer(norms, norms))
    assert np.array_equal(gram, gram.T)
    for family in (HashEmbedding, SubsampledHadamard):
        projection = family(d, 64, 3)
        R = as_dense(projection.rows())
        # values and sums in float32; an imputed mean is 0 to about eps
        bound = d * np.finfo(np.float32).eps * (np.abs(exact) @ np.abs(R)) + d * eps * (size @ np.abs(R))
        assert np.all(np.abs(view.sketch(projection) - exact @ R) <= bound)
    squares = np.sqrt(np.sum(exact**2, axis=1))
    assert np.allclose(view.row_norms(), squares, rtol=1e-10)
    assert np.allclose(view.column_stats().mean, exact.mean(axis=0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("standardise", [False, True])
def test_products(tmp_path, monkeypatch, standardise, global_random_seed):
    genotypes = random_genotypes(37, 300, seed=global_random_seed)
    genotypes[:, 5] = 1  # constant
    monkeypatch.setattr(plink, "BLOCK_BYTES", 10 * 64)
    check_products(open_plink(write_plink(tmp_path / "a", genotypes)), genotypes, standardise)


def test_stats_of_raw_genotypes(tmp_path):
    genotypes = random_genotypes(37, 300)
    stats = open_plink(write_plink(tmp_path / "a", genotypes)).column_stats()
    there = genotypes >= 0
    assert np.array_equal(stats.missing, (~there).sum(axis=0))
    assert np.array_equal(stats.weight, there.sum(axis=0))
    assert np.allclose(stats.sum, np.where(there, genotypes, 0).sum(axis=0), rtol=1e-13)
    assert np.array_equal(stats.nonzeros, (genotypes > 0).sum(axis=0))
    assert np.allclose(stats.std, np.nanstd(np.where(there, genotypes.astype(float), np.nan), axis=0), rtol=1e-12)


def test_writing_by_the_letter(tmp_path):
    """The bytes of this small file were worked out by hand from the format's description."""
    genotypes = np.array([[0, 2], [1, -127], [2, 1], [-127, 0], [1, 2]], dtype=np.int8)
    assert bed_bytes(genotypes) == bytes([0x6C, 0x1B, 1, 0b01_00_10_11, 0b10, 0b11_10_01_00, 0b00])


# Real data ------------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("name", ["hapmap3", "1kg_phase1_overlap"])
def test_real_files_read_as_bed_reader_reads_them(data_dir, name):
    bed_reader = pytest.importorskip("bed_reader", reason="bed-reader, which this compares with, is not installed")
    path = data_dir / "hapmap3_1kg" / f"{name}.bed"
    X = open_matrix(path)
    with bed_reader.open_bed(path, num_threads=1) as bed:
        assert X.shape == bed.shape
        assert np.array_equal(unpacked(X), bed.read(dtype="int8", num_threads=1))
        assert list(X.feature_names) == bed.sid.tolist()
        assert list(X.sample_ids) == bed.iid.tolist()
        assert X.variants.chromosome.tolist() == bed.chromosome.tolist()
        assert np.array_equal(X.variants.position, bed.bp_position)
        assert np.array_equal(X.variants.cm, bed.cm_position)
        assert X.variants.allele1.tolist() == bed.allele_1.tolist()
        assert X.variants.allele2.tolist() == bed.allele_2.tolist()
        phenotypes = bed.pheno.tolist()
    if X.labels is None:
        assert set(phenotypes) <= {"-9", "0"}
    else:
        assert [str(label) for label in X.labels] == phenotypes


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("standardise", [False, True])
def test_products_of_hapmap3(data_dir, standardise):
    X = open_matrix(data_dir / "hapmap3_1kg" / "hapmap3.bed")
    check_products(X, unpacked(X), standardise)


@pytest.mark.data
def test_stats_of_hapmap3(data_dir):
    X = open_matrix(data_dir / "hapmap3_1kg" / "hapmap3.bed")
    genotypes = unpacked(X)
    values = np.where(genotypes < 0, np.nan, genotypes.astype(np.float64))
    stats = X.column_stats()
    assert np.array_equal(stats.missing, np.isnan(values).sum(axis=0))
    assert np.array_equal(stats.nonzeros, (genotypes > 0).sum(axis=0))
    assert np.allclose(stats.mean, np.nanmean(values, axis=0), rtol=1e-13)
    assert np.allclose(stats.std, np.nanstd(values, axis=0), rtol=1e-12)
    assert 0.001 < stats.missing.sum() / values.size < 0.002  # 0.15 %, says its description
