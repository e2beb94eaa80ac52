import numpy as np
import pytest
import scipy.sparse as sp

from slimline import open_matrix
from slimline._base.checks import missing_number
from slimline.errors import InvalidParameterError
from tests.refusals import refuses


def _npy(array, folder):
    np.save(folder / "x.npy", array)
    return folder / "x.npy"


def _mapped(array, folder):
    return np.load(_npy(array, folder), mmap_mode="r")


def _npz(array, folder):
    np.savez(folder / "x.npz", X=array)
    return folder / "x.npz"


def _compressed_npz(array, folder):
    np.savez_compressed(folder / "x.npz", X=array)
    return folder / "x.npz"


def _hdf5(array, folder, **options):
    with pytest.importorskip("h5py").File(folder / "x.h5", "w") as file:
        file.create_dataset("x", data=array, **options)
    return folder / "x.h5"


def _chunked_hdf5(array, folder):
    return _hdf5(array, folder, chunks=(2, 2))


def _zarr(array, folder):
    pytest.importorskip("zarr").save_array(folder / "x.zarr", array)
    return folder / "x.zarr"


STORAGES = [lambda array, folder: array, _npy, _mapped, _npz, _compressed_npz, _hdf5, _chunked_hdf5, _zarr]


@pytest.mark.parametrize("storage", STORAGES)
def test_missing_is_checked_by_every_storage(storage, tmp_path):
    source = storage(np.array([[1, 2, 3], [4, 2, 6]], dtype=np.uint8), tmp_path)
    for number in (2, 2.0, np.int64(2), np.float32(2)):
        assert open_matrix(source, missing=number).column_stats().missing.tolist() == [0, 2, 0]
    for number in (-1, 256):
        with pytest.raises(InvalidParameterError, match=r"from 0 to 255 .* uint8") as caught:
            open_matrix(source, missing=number)
        assert (caught.value.parameter, caught.value.value) == ("missing", number)
    for wrong in (True, np.True_, np.nan, np.inf, 1.5, "2", [2]):
        with pytest.raises(InvalidParameterError, match="whole number"):
            open_matrix(source, missing=wrong)


@pytest.mark.parametrize(
    "dtype, right, wrong",
    [
        ("i1", [-128, 127], [-129, 999]),
        (">i2", [-32768, 999], [32768]),
        ("?", [0, 1], [-1, 2]),
        ("i8", [-(2**63)], [2**63]),
        ("u8", [2**64 - 1], [2**64, -1]),
        ("f2", [2048, -9], [2049, 10**6]),
        (">f4", [2**24, -9], [2**24 + 1]),
        ("f8", [2**53, 10**22], [2**53 + 1, 10**400]),
    ],
)
def test_missing_is_a_number_that_can_be_stored(dtype, right, wrong):
    assert [missing_number(number, np.dtype(dtype), "x") for number in right] == right
    for number in wrong:
        with pytest.raises(InvalidParameterError) as caught:
            missing_number(number, np.dtype(dtype), "x")
        assert (caught.value.parameter, caught.value.value) == ("missing", number)


def test_right_hand_sides_and_weights_that_are_no_numbers():
    matrix = open_matrix(np.ones((3, 2)))
    for wrong in ("a", ["a"] * 3, [1j] * 3, [None] * 3, [[1], [1, 2], [3]]):
        with pytest.raises(InvalidParameterError, match="A "):
            matrix.tdot(wrong)
        with refuses("sample_weight"):
            matrix.column_stats(wrong)
    with pytest.raises(InvalidParameterError, match=r"W\.toarray\(\)"):
        matrix.dot(sp.csr_array(np.eye(2)))
    with pytest.raises(InvalidParameterError, match=r"A\.toarray\(\)"):
        matrix.tdot(sp.csc_array(np.eye(3)))
    assert matrix.passes == 0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
def test_weights_may_lie_apart(make):
    rng = np.random.default_rng(0)
    X, table = rng.integers(0, 3, (9, 5)).astype(float), rng.random((9, 4))
    got = open_matrix(make(X)).column_stats(table[:, 2])
    np.testing.assert_allclose(got.mean, np.average(X, axis=0, weights=table[:, 2]))
