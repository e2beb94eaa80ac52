import json

from papers.tests.frozen import PATH, surface


def test_nothing_changed_that_others_rely_on():
    assert json.loads(json.dumps(surface())) == json.loads(PATH.read_text(encoding="utf-8"))


def test_the_old_path_gives_the_same_names():
    import slimline.papers
    import slimline_papers

    assert slimline.papers.__all__ == slimline_papers.__all__
    for name in slimline_papers.__all__:
        assert getattr(slimline.papers, name) is getattr(slimline_papers, name)
