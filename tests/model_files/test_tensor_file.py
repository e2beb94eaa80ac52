import json
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slimline.errors import FileWriteError, InvalidParameterError, ModelFileError, SlimlineError
from slimline.model_files import read_tensors, write_tensors

ARRAYS = {
    "weights": np.arange(6.0).reshape(2, 3),
    "texts": np.frombuffer(b"abc", dtype=np.uint8),
    "flags": np.array([True, False]),
    "none": np.zeros((0, 4)),
}
PLAIN = {"a": [1, 2.5, "ä", None, True], "nested": {"b": {}}}


@pytest.fixture
def content(tmp_path):
    write_tensors(tmp_path / "m.slim", ARRAYS, PLAIN)
    return (tmp_path / "m.slim").read_bytes()


def same(path):
    arrays, plain = read_tensors(path)
    assert plain == PLAIN
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].flags.writeable
    return True


def test_what_is_written_is_read(tmp_path):
    write_tensors(tmp_path / "m.slim", ARRAYS, PLAIN)
    assert same(tmp_path / "m.slim")
    assert [path.name for path in tmp_path.iterdir()] == ["m.slim"]  # nothing temporary is left


def test_arrays_of_any_layout_are_written(tmp_path):
    wide = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    write_tensors(tmp_path / "m.slim", {"fortran": wide, "strided": wide[:, ::2]}, {})
    arrays, _ = read_tensors(tmp_path / "m.slim")
    np.testing.assert_array_equal(arrays["fortran"], wide)
    np.testing.assert_array_equal(arrays["strided"], wide[:, ::2])


def test_other_programs_can_read_it(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    write_tensors(tmp_path / "m.slim", ARRAYS, PLAIN)
    np.testing.assert_array_equal(safetensors.load_file(tmp_path / "m.slim")["weights"], ARRAYS["weights"])


def test_a_file_that_exists_is_kept(tmp_path):
    write_tensors(tmp_path / "m.slim", ARRAYS, PLAIN)
    with pytest.raises(InvalidParameterError, match="exists"):
        write_tensors(tmp_path / "m.slim", {}, {})
    assert same(tmp_path / "m.slim")
    write_tensors(tmp_path / "m.slim", {}, {}, overwrite=True)
    assert read_tensors(tmp_path / "m.slim") == ({}, {})


def test_no_folder_no_file(tmp_path):
    with pytest.raises(InvalidParameterError, match="no folder"):
        write_tensors(tmp_path / "absent" / "m.slim", ARRAYS, PLAIN)


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(FileWriteError, match="disk is full"):
        write_tensors(tmp_path / "m.slim", ARRAYS, PLAIN)
    assert list(tmp_path.iterdir()) == []


def test_numbers_that_json_has_not_are_refused(tmp_path):
    with pytest.raises(ValueError):
        write_tensors(tmp_path / "m.slim", {}, {"a": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_absent_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_tensors(tmp_path / "m.slim")


def test_cut_at_every_byte(tmp_path, content):
    path = tmp_path / "cut.slim"
    for end in range(len(content)):
        path.write_bytes(content[:end])
        with pytest.raises(ModelFileError, match=r"cut\.slim"):
            read_tensors(path)


def test_every_byte_changed(tmp_path, content):
    path = tmp_path / "changed.slim"
    for place in range(len(content)):
        for bit in (0, 6):
            damaged = bytearray(content)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            if place >= 8 and content[place : place + 1] == b" ":
                continue  # white space pads the header, and a tab is as good
            with pytest.raises(ModelFileError, match=r"changed\.slim"):
                read_tensors(path)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    noise=st.one_of(
        st.binary(max_size=200),
        st.builds(
            lambda head, rest: struct.pack("<Q", len(head)) + head + rest,
            st.recursive(
                st.none() | st.integers() | st.text(max_size=5),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(st.sampled_from(["__metadata__", "slimline", "sha256", "dtype", "shape"]), inner)
                ),
                max_leaves=8,
            ).map(lambda value: json.dumps(value).encode()),
            st.binary(max_size=16),
        ),
    )
)
def test_anything_else_is_refused(tmp_path, noise):
    (tmp_path / "noise.slim").write_bytes(noise)
    with pytest.raises(SlimlineError, match=r"noise\.slim"):
        read_tensors(tmp_path / "noise.slim")


def test_foreign_safetensors(tmp_path):
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(3)}, tmp_path / "foreign.safetensors")
    with pytest.raises(ModelFileError, match="no model of slimline"):
        read_tensors(tmp_path / "foreign.safetensors")
    save_file({"a": np.zeros(3, dtype=np.float16)}, tmp_path / "half.safetensors")
    with pytest.raises(ModelFileError, match="F16"):
        read_tensors(tmp_path / "half.safetensors")


def test_no_pickle_is_opened(tmp_path):
    import pickle

    class Run:
        def __reduce__(self):
            return (pytest.fail, ("code was run",))

    (tmp_path / "pickle.slim").write_bytes(pickle.dumps(Run()))
    with pytest.raises(ModelFileError):
        read_tensors(tmp_path / "pickle.slim")
