"""Features of svmlight files keep the numbers of the file, and other files are aligned by them."""

import numpy as np
import pytest

from slimline import CertifiedClassifier, open_matrix
from slimline.errors import DataError, FileFormatError
from slimline.estimators import aligned_decisions

STRONG = 7


def write(path, X, base):
    lines = []
    for row in X:
        cells = [f"{j + base}:{value:.17g}" for j, value in enumerate(row) if value]
        lines.append(" ".join([f"{int(row[STRONG - base] > 0)}", *cells]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(params=[1, 0], ids=["from 1", "from 0"])
def base(request):
    return request.param


@pytest.fixture
def X(base):
    X = np.random.default_rng(0).standard_normal((40, 12))
    X[:, STRONG - base] *= 20.0  # the feature that the file calls 7
    return X


@pytest.fixture
def model(tmp_path, X, base):
    return CertifiedClassifier(0.1, random_state=0).fit(open_matrix(write(tmp_path / "train.svm", X, base)))


def test_the_first_feature_is_the_one_that_the_file_calls_so(model, base):
    top = model.top_features(1)
    assert top.name[0] == "7"
    assert top.index[0] == STRONG - base
    assert list(model.feature_names_in_) == [str(base + j) for j in range(12)]


def test_views_keep_the_numbers(tmp_path, X, base):
    matrix = open_matrix(write(tmp_path / "x.svm", X, base))
    assert matrix.columns([2, 6]).feature_names == [str(2 + base), str(6 + base)]
    assert list(matrix.rows([0]).feature_names[-2:]) == [str(10 + base), str(11 + base)]


def test_another_file_is_aligned_by_number(model, tmp_path, X, base):
    new = X[:10].copy()
    new[:, 0] = new[:, -1] = 0.0  # by itself the file seems to begin one further on, and ends before
    path = write(tmp_path / "new.svm", new, base)
    for source in (path, open_matrix(path)):
        decisions, alignment = aligned_decisions(model, source)
        np.testing.assert_allclose(
            decisions.scores, model.decision_function(open_matrix(new, feature_names=list(model.feature_names_in_)))
        )
        assert (alignment.matched_by, alignment.used, alignment.filled) == ("name", 12, 0)
    with pytest.raises(DataError):  # and nothing is shifted in silence
        model.predict(open_matrix(path))
    with pytest.raises(DataError, match=f"n_features=12, zero_based={base == 0}"):
        aligned_decisions(model, open_matrix(path).rows([1, 2]))
    right = open_matrix(path, n_features=12, zero_based=base == 0)
    np.testing.assert_array_equal(model.predict(right), decisions.labels)


def test_a_model_that_begins_elsewhere(tmp_path):
    rng = np.random.default_rng(0)
    first = open_matrix(write(tmp_path / "one.svm", rng.standard_normal((30, 9)), 1))
    zero = write(tmp_path / "zero.svm", rng.standard_normal((30, 9)), 0)
    model = CertifiedClassifier(0.1, random_state=0).fit(first)
    with pytest.raises(DataError):
        model.predict(open_matrix(zero))
    with pytest.raises(FileFormatError):
        aligned_decisions(model, zero)


def test_names_of_ones_own_are_kept(tmp_path, X, base):
    from slimline.data._views import NamedColumns

    path = write(tmp_path / "train.svm", X, base)
    names = [f"word {j}" for j in range(12)]
    model = CertifiedClassifier(0.1, random_state=0).fit(NamedColumns(open_matrix(path), names))
    decisions, alignment = aligned_decisions(model, path)
    assert alignment.matched_by == "order"
    assert model.top_features(1).name[0] == f"word {STRONG - base}"
    np.testing.assert_array_equal(decisions.labels, model.predict(NamedColumns(open_matrix(path), names)))
