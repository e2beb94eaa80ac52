import json
from dataclasses import fields, replace

import numpy as np
import pytest

from slimline.data._names import PackedStrings
from slimline.errors import InvalidParameterError, ModelFileError
from slimline.model_files import StoredModel, read_tensors, write_tensors
from slimline.model_files._stored_model import PROTOCOL
from slimline.model_files._tensors import _digest
from tests.refusals import refuses

rng = np.random.default_rng(0)


def model(classes=("ill", "well"), tasks=1, d=4, **changes):
    size = (tasks, d)
    weights = rng.standard_normal((tasks, d + 1))
    return replace(
        StoredModel(
            kind="CertifiedClassifier",
            parameters={"C": 1.0},
            classes=np.array(classes),
            constant=2.0,
            passes=7,
            weights=weights,
            intercept=2.0 * weights[:, -1],
            gap=np.full(tasks, 0.1),
            radius=np.full(tasks, 0.2),
            relative_error=np.full(tasks, np.inf),
            coordinate_radius=np.full(size, 0.15),
            interval_centre=weights[:, :-1] + 0.05,
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
    plain = model()
    written = replace(
        plain,
        intercept=2.0 * plain.weights[:, -1] - plain.weights[:, :-1] @ [0.0, 2.0, 4.0, 6.0],
        coordinate_radius=np.full((1, 4), 0.3),
        centre=np.arange(4.0),
        factor=np.full(4, 2.0),
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
    setter("plain", "passes", -1),
    setter("plain", "passes", True),
    setter("plain", "constant", -2.0),
    setter("plain", "constant", 0),
    setter("plain", "constant", 1e-200),
    setter("plain", "constant", 1e200),
    setter("plain", "constant", 10**400),
    setter("plain", "constant", 2.1),
    setter("plain", "classes", {"type": "int64", "values": [1, 1]}),
    setter("plain", "classes", {"type": "float64", "values": [1.0, 10**400]}),
    setter("arrays", "weights", np.full((1, 5), 1e308)),
    setter("arrays", "intercept", np.zeros(1)),
    setter("arrays", "intercept", np.array([np.inf])),
    setter("arrays", "radius", np.array([np.nan])),
    setter("arrays", "gap", np.array([-np.inf])),
    setter("arrays", "relative_error", np.zeros(1)),
    setter("arrays", "relative_error", np.array([0.01])),
    setter("arrays", "interval_centre", np.full((1, 4), 50.0)),
    setter("arrays", "interval_centre", np.full((1, 4), np.inf)),
    setter("arrays", "interval_radius", np.full((1, 4), np.nan)),
    setter("arrays", "coordinate_radius", np.zeros((1, 4))),
    setter("arrays", "centre", np.zeros(4)),
    setter("arrays", "factor", np.ones(4)),
    setter("arrays", "sample_rows", np.zeros((2, 2), dtype=np.int64)),
    setter("arrays", "sample_names", np.array(0, dtype=np.uint64)),
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


def with_scaling(**changes):
    plain = model()
    middle = plain.weights[:, :-1] @ [0.0, 2.0, 4.0, 6.0]
    scaling = {"centre": np.arange(4.0), "factor": np.full(4, 2.0), "fill": np.zeros(4)}
    scaling |= {"coordinate_radius": np.full((1, 4), 0.3), "intercept": plain.intercept - middle}
    return replace(plain, **scaling | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"centre": None},
        {"factor": None},
        {"factor": np.full(4, 2.0**-1073)},
        {"factor": np.full(4, 1e308)},
        {"factor": np.full(4, 4.0)},
        {"centre": np.ones(4)},
        {"centre": None, "factor": None},
        {"coordinate_radius": np.full((1, 4), 0.15)},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_scaling_that_does_not_belong_to_the_claims(tmp_path, changes):
    with_scaling().write(tmp_path / "m.slim")
    StoredModel.read(tmp_path / "m.slim")
    with_scaling(**changes).write(tmp_path / "n.slim")
    with pytest.raises(ModelFileError, match=r"n\.slim"):
        StoredModel.read(tmp_path / "n.slim")


def test_bounds_may_be_infinite(tmp_path):
    """If C or the data are extreme, nothing is proved, and the weights may be of use all the same."""
    nothing = np.full(1, np.inf)
    each = np.full((1, 4), np.inf)
    written = model(gap=nothing, radius=nothing, relative_error=nothing, coordinate_radius=each, interval_radius=each)
    written.write(tmp_path / "m.slim")
    assert equal(written, StoredModel.read(tmp_path / "m.slim"))
    replace(written, relative_error=np.ones(1)).write(tmp_path / "n.slim")
    with pytest.raises(ModelFileError, match="relative_error"):
        StoredModel.read(tmp_path / "n.slim")


def test_weights_of_any_scale(tmp_path):
    for scale in (1e-300, 1e-160, 1e160, 1e300):
        weights = np.array([[3.0, 0.0, 4.0, 0.0, 0.0]]) * scale
        written = model(
            weights=weights,
            intercept=np.zeros(1),
            radius=np.full(1, scale),
            relative_error=np.full(1, 0.2500001),
            coordinate_radius=np.full((1, 4), scale),
            interval_centre=weights[:, :-1],
            interval_radius=np.full((1, 4), scale),
        )
        written.write(tmp_path / "m.slim", overwrite=True)
        StoredModel.read(tmp_path / "m.slim")
        replace(written, relative_error=np.full(1, 0.2)).write(tmp_path / "m.slim", overwrite=True)
        with pytest.raises(ModelFileError, match="relative_error"):
            StoredModel.read(tmp_path / "m.slim")


@pytest.mark.parametrize("name", ["weights", "intercept"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_model_without_finite_weights_is_not_written(tmp_path, name, value):
    broken = np.array(getattr(model(), name))
    broken[0] = value
    with refuses(name):
        model(**{name: broken}).write(tmp_path / "m.slim")
    assert list(tmp_path.iterdir()) == []


def test_names_of_files_that_are_no_text(tmp_path):
    name = b"caf\xe9.npy".decode(errors="surrogateescape")
    model(details={"data": name}).write(tmp_path / "m.slim")
    assert StoredModel.read(tmp_path / "m.slim").details == {"data": "caf\\udce9.npy"}
    with pytest.raises(InvalidParameterError, match="labels"):
        model(classes=("a", "b\ud800")).write(tmp_path / "n.slim")


def test_plain_data_that_are_no_json(tmp_path):
    path = tmp_path / "m.slim"
    model().write(path)
    arrays, _ = read_tensors(path)
    for broken in ('{"a": NaN}', '{"a": -Infinity}', '{"a": "\\ud800"}', "[" * 10_000, "1" * 10_000):
        with_text(path, broken, arrays)
        with pytest.raises(ModelFileError, match=r"m\.slim"):
            read_tensors(path)
    arrays["none"] = np.zeros((0, 3))
    with_text(path, "{}", arrays)
    assert read_tensors(path)[0]["none"].shape == (0, 3)
    raw = path.read_bytes().replace(b"[0, 3]", b"[0, %d]" % 2**70)
    path.write_bytes(len(raw[8 : raw.index(b"}}") + 2]).to_bytes(8, "little") + raw[8:])
    with pytest.raises(ModelFileError, match=r"m\.slim"):
        read_tensors(path)


def with_text(path, text, arrays):
    """Write a file whose plain data are any text, with a digest that fits."""
    header = {"__metadata__": {"slimline": f"{_digest(text, arrays)} {text}"}}
    begin = 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F64", "shape": array.shape, "data_offsets": (begin, begin + array.nbytes)}
        begin += array.nbytes
    head = json.dumps(header).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + b"".join(array.tobytes() for array in arrays.values()))
