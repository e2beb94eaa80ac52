from dataclasses import fields, replace

import numpy as np
import pytest

from slimline.data.packed_strings import PackedStrings
from slimline.errors import InvalidParameterError, ModelFileError
from slimline.model_files import StoredModel, read_tensors, write_tensors
from slimline.model_files.protocol import PROTOCOL

rng = np.random.default_rng(0)


def model(classes=("ill", "well"), tasks=1, d=4, **changes):
    size = (tasks, d)
    return replace(
        StoredModel(
            kind="CertifiedClassifier",
            parameters={"C": 1.0},
            classes=np.array(classes),
            constant=1.0,
            passes=7,
            weights=rng.standard_normal((tasks, d + 1)),
            intercept=rng.standard_normal(tasks),
            gap=np.full(tasks, 0.1),
            radius=np.full(tasks, 0.2),
            relative_error=np.full(tasks, np.inf),
            coordinate_radius=np.full(size, 0.3),
            interval_centre=rng.standard_normal(size),
            interval_radius=np.full(size, 0.1),
        ),
        **changes,
    )


def equal(one, other):
    for entry in fields(StoredModel):
        a, b = getattr(one, entry.name), getattr(other, entry.name)
        if isinstance(a, np.ndarray):
            assert a.dtype.kind == b.dtype.kind, entry.name
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b, entry.name
    return True


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["ill", "well"]),
        np.array(["ä", "", "x\ny"])[[1, 2, 0]],
        np.array(["b", "c"], dtype=object),
        np.array([-1, 3]),
        np.array([0, 1, 200], dtype=np.uint8),
        np.array([2**62, 2**62 + 1]),
        np.array([0.1, 1 / 3]),
        np.array([False, True]),
    ],
    ids=lambda array: f"{array.dtype}-{len(array)}",
)
def test_labels_come_back(tmp_path, classes):
    tasks = 1 if len(classes) == 2 else len(classes)
    written = replace(model(tasks=tasks), classes=classes)
    written.write(tmp_path / "m.slim")
    read = StoredModel.read(tmp_path / "m.slim")
    assert equal(written, read)
    assert read.classes.dtype.kind == classes.dtype.kind


def test_everything_comes_back(tmp_path):
    names = PackedStrings.of(["rs1", "", "ä", "rs4"])
    written = model(
        centre=np.arange(4.0),
        factor=np.ones(4),
        fill=np.zeros(4),
        mean=np.ones(4),
        feature_names=names,
        chromosome=names,
        allele1=names,
        allele2=names,
        position=np.arange(4),
        details={"history": [1, 2.5, None]},
    )
    written.write(tmp_path / "m.slim")
    assert equal(written, StoredModel.read(tmp_path / "m.slim"))


@pytest.mark.parametrize("classes", [np.array([b"a", b"b"]), np.array([1, "a"], dtype=object), np.array([1j, 2j])])
def test_labels_that_cannot_be_saved(tmp_path, classes):
    with pytest.raises(InvalidParameterError, match="cannot be saved"):
        replace(model(), classes=classes).write(tmp_path / "m.slim")
    assert list(tmp_path.iterdir()) == []


def rewrite(path, change):
    """Write the file again with other content and a digest that fits: what a hostile hand would do."""
    arrays, plain = read_tensors(path)
    change(arrays, plain)
    write_tensors(path, arrays, plain, overwrite=True)


def setter(where, name, value):
    def change(arrays, plain):
        content = arrays if where == "arrays" else plain
        if value is None:
            del content[name]
        else:
            content[name] = value

    return change


HOSTILE = [
    setter("plain", "protocol", 0),
    setter("plain", "protocol", "1"),
    setter("plain", "protocol", None),
    setter("plain", "kind", 3),
    setter("plain", "parameters", []),
    setter("plain", "details", "x"),
    setter("plain", "passes", 1.5),
    setter("plain", "constant", "1"),
    setter("plain", "classes", None),
    setter("plain", "classes", {"type": "text", "values": ["b", "a"]}),
    setter("plain", "classes", {"type": "text", "values": ["a"]}),
    setter("plain", "classes", {"type": "text", "values": ["a", "b", "c"]}),
    setter("plain", "classes", {"type": "int8", "values": [1, 1000]}),
    setter("plain", "classes", {"type": "O", "values": [1, 2]}),
    setter("plain", "classes", {"type": "datetime64", "values": [1, 2]}),
    setter("plain", "classes", {"type": ["a"], "values": [1, 2]}),
    setter("plain", "classes", [1, 2]),
    setter("arrays", "weights", None),
    setter("arrays", "weights", np.zeros(5)),
    setter("arrays", "weights", np.zeros((1, 1))),
    setter("arrays", "weights", np.zeros((0, 5))),
    setter("arrays", "weights", np.full((1, 5), np.nan)),
    setter("arrays", "radius", None),
    setter("arrays", "radius", np.array([-1.0])),
    setter("arrays", "relative_error", np.array([np.nan])),
    setter("arrays", "interval_radius", np.zeros((1, 3))),
    setter("arrays", "gap", np.zeros(1, dtype=np.int64)),
    setter("arrays", "fill", np.zeros(3)),
    setter("arrays", "position", np.zeros(4)),
    setter("arrays", "feature_names.ends", None),
    setter("arrays", "feature_names.ends", np.array([1, 2, 3, 400], dtype=np.uint32)),
    setter("arrays", "feature_names.ends", np.array([3, 2, 3, 4], dtype=np.uint32)),
    setter("arrays", "feature_names.ends", np.array([4], dtype=np.uint32)),
    setter("arrays", "feature_names.ends", np.zeros(4)),
    setter("arrays", "feature_names.text", np.zeros((2, 2), dtype=np.uint8)),
]


@pytest.mark.parametrize("change", HOSTILE, ids=range(len(HOSTILE)))
def test_parts_that_do_not_belong_together(tmp_path, change):
    path = tmp_path / "m.slim"
    model(feature_names=PackedStrings.of("abcd")).write(path)
    StoredModel.read(path)
    rewrite(path, change)
    with pytest.raises(ModelFileError, match=r"m\.slim"):
        StoredModel.read(path)


def test_a_later_layout_says_update(tmp_path):
    path = tmp_path / "m.slim"
    model().write(path)
    rewrite(path, setter("plain", "protocol", PROTOCOL + 1))
    with pytest.raises(ModelFileError, match="update slimline"):
        StoredModel.read(path)
