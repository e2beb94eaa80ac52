import numpy as np
import pytest
import scipy.sparse as sp

from slimline import CertifiedClassifier, CertifiedClassifierCV, ProjectedClassifier, open_matrix
from slimline.errors import DataError, FileFormatError, InvalidParameterError
from tests.cli.command import run_here
from tests.data.formats.explicit import check_passes

pytestmark = pytest.mark.filterwarnings("ignore")  # anndata warns of its own plans
anndata = pytest.importorskip("anndata")
h5py = pytest.importorskip("h5py")
pd = pytest.importorskip("pandas")


def cells(x, layers=None):
    n, d = x.shape
    obs = pd.DataFrame(
        {
            "cell_type": pd.Categorical(["B", "T", "NK"] * (n // 3) + ["B"] * (n % 3)),
            "age": np.arange(n, dtype=float),
            "batch": ["one", "two"] * (n // 2) + ["one"] * (n % 2),
            "doublet": pd.array([True, None] * (n // 2) + [False] * (n % 2), dtype="boolean"),
            "unsure": pd.Categorical(["B", None] * (n // 2) + ["B"] * (n % 2)),
        },
        index=[f"cell{i}" for i in range(n)],
    )
    var = pd.DataFrame({"gc": np.zeros(d)}, index=[f"gene{j}" for j in range(d)])
    return anndata.AnnData(x, obs=obs, var=var, layers=layers, obsm={"X_pca": np.ones((n, 4))})


def written(path, data, **options):
    if path.suffix == ".zarr":
        pytest.importorskip("zarr")
        data.write_zarr(path)
    else:
        data.write_h5ad(path, **options)
    return path


@pytest.mark.parametrize("ending", [".h5ad", ".zarr"])
@pytest.mark.parametrize("format", ["dense", "csr", "csc"])
def test_matrix_names_and_labels(tmp_path, ending, format):
    dense = np.random.default_rng(0).poisson(0.3, (50, 31)).astype("f4")
    x = dense if format == "dense" else sp.csr_matrix(dense).asformat(format)
    path = written(tmp_path / f"x{ending}", cells(x, {"counts": x * 2}))
    matrix = open_matrix(path, label="cell_type")
    check_passes(matrix, dense)
    assert list(matrix.sample_ids) == [f"cell{i}" for i in range(50)]
    assert list(matrix.feature_names) == [f"gene{j}" for j in range(31)]
    assert matrix.labels.tolist() == ["B", "T", "NK"] * 16 + ["B", "B"]
    view = matrix.rows([4, 2])
    assert view.sample_ids == ["cell4", "cell2"] and view.labels.tolist() == ["T", "NK"]
    which = "array" if ending == ".zarr" else "dataset"
    check_passes(open_matrix(path, **{which: "layers/counts"}), dense * 2)
    embedding = open_matrix(path, **{which: "obsm/X_pca"})
    assert embedding.shape == (50, 4) and embedding.feature_names is None and embedding.sample_ids[1] == "cell1"


@pytest.mark.parametrize("ending", [".h5ad", ".zarr"])
def test_kinds_of_labels(tmp_path, ending):
    path = written(tmp_path / f"x{ending}", cells(np.ones((6, 2), dtype="f4")))
    assert open_matrix(path, label="age").labels.tolist() == [0, 1, 2, 3, 4, 5]
    assert open_matrix(path, label="batch").labels.tolist() == ["one", "two"] * 3
    assert open_matrix(path, label="doublet").labels.tolist() == [True, None] * 3
    assert open_matrix(path, label="unsure").labels.tolist() == ["B", None] * 3
    with pytest.raises(InvalidParameterError, match=r"'kind' is no column of .*cell_type"):
        open_matrix(path, label="kind")


@pytest.mark.parametrize("compression", ["gzip", "lzf"])
def test_compressed_files(tmp_path, compression):
    dense = np.random.default_rng(0).poisson(0.3, (50, 31)).astype("f4")
    for x in (dense, sp.csr_matrix(dense)):
        check_passes(open_matrix(written(tmp_path / "x.h5ad", cells(x), compression=compression)), dense)


def test_raw_has_its_own_genes(tmp_path):
    data = cells(np.ones((6, 4), dtype="f4"))
    data.raw = data.copy()
    path = written(tmp_path / "x.h5ad", data[:, :2].copy())
    assert open_matrix(path).shape == (6, 2)
    raw = open_matrix(path, dataset="raw/X")
    assert raw.shape == (6, 4) and raw.feature_names[3] == "gene3"


def test_files_of_old_versions(tmp_path):
    """Before 0.7 frames were arrays of records; in 0.7 an attribute pointed to the categories."""
    x = np.arange(12, dtype="f4").reshape(3, 4)
    path = tmp_path / "old.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = x
        file["obs"] = np.array([(b"a", 1), (b"b", 2), (b"c", 3)], dtype=[("index", "S4"), ("n", "i4")])
        file["var"] = np.array([(b"w",), (b"x",), (b"y",), (b"z",)], dtype=[("index", "S4")])
    matrix = open_matrix(path, label="n")
    assert list(matrix.sample_ids) == ["a", "b", "c"] and list(matrix.feature_names) == ["w", "x", "y", "z"]
    assert matrix.labels.tolist() == [1, 2, 3]
    with h5py.File(path, "w") as file:
        file["X"] = x
        for name, index in (("obs", ["a", "b", "c"]), ("var", list("wxyz"))):
            frame = file.create_group(name)
            frame.attrs["_index"] = "names"
            frame["names"] = index
        file["obs/__categories/kind"] = ["T", "B"]
        file["obs"]["kind"] = np.array([1, 0, 1], dtype="i1")
        file["obs"]["kind"].attrs["categories"] = file["obs/__categories/kind"].ref
    matrix = open_matrix(path, label="kind")
    assert matrix.labels.tolist() == ["B", "T", "B"] and list(matrix.sample_ids) == ["a", "b", "c"]


def test_damaged_frames(tmp_path):
    path = written(tmp_path / "x.h5ad", cells(np.ones((6, 2), dtype="f4")))
    with h5py.File(path, "a") as file:
        file["obs/cell_type/codes"][2] = 9
    with pytest.raises(FileFormatError, match="category"):
        open_matrix(path, label="cell_type")
    with h5py.File(path, "a") as file:
        del file["X"]
        file["X"] = np.ones((7, 2), dtype="f4")
    with pytest.raises(FileFormatError, match="6 sample ids"):
        open_matrix(path)


def test_matrices_that_are_not_of_observations(tmp_path):
    data = cells(np.ones((6, 2), dtype="f4"))
    data.varm["loadings"] = np.ones((2, 3))
    path = written(tmp_path / "x.h5ad", data)
    with pytest.raises(InvalidParameterError, match="observation"):
        open_matrix(path, dataset="varm/loadings")


@pytest.mark.parametrize("ending", [".h5ad", ".zarr"])
@pytest.mark.parametrize("column", ["unsure", "doublet", "grade"])
def test_cells_without_a_label(tmp_path, monkeypatch, capsys, ending, column):
    X = np.random.default_rng(0).standard_normal((40, 12)).astype("f4")
    data = cells(X)
    data.obs["unsure"] = pd.Categorical((["B"] * 3 + [None] + ["T"] * 4) * 5)
    data.obs["doublet"] = pd.array(([True] * 3 + [None] + [False] * 4) * 5, dtype="boolean")
    data.obs["grade"] = ([1.0] * 3 + [np.nan] + [2.0] * 4) * 5
    matrix = open_matrix(written(tmp_path / f"x{ending}", data), label=column)
    for fit in (CertifiedClassifier().fit, CertifiedClassifierCV(cv=2).fit):
        with pytest.raises(DataError, match=r"5 of 40 samples have no label in y .*sample 3,"):
            fit(matrix)
    with pytest.raises(DataError, match="5 of 40 samples have no label"):
        ProjectedClassifier().fit(matrix, matrix.labels)
    known = np.flatnonzero(~pd.isna(matrix.labels))
    model = CertifiedClassifier(0.1, random_state=0).fit(matrix.rows(known), matrix.labels[known])
    assert len(model.classes_) == 2
    monkeypatch.chdir(tmp_path)
    assert run_here(monkeypatch, "fit", f"x{ending}", "--target", column, "--model", "m.slim", "--no-report") == 0
    assert "5 rows without a label left out" in " ".join(capsys.readouterr().out.split())
    stored = CertifiedClassifier.load("m.slim")
    assert len(stored.classes_) == 2
