"""A page as its readers have it: words, elements, and where they stand."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"br", "col", "input", "link", "meta"}


@dataclass
class Element:
    """An element with what is in it."""

    tag: str
    attributes: dict[str, str | None]
    parent: "Element | None"
    children: list["Element | str"] = field(default_factory=list)

    def all(self, tag=None, **attributes):
        """Elements in it, in their order."""
        for child in self.children:
            if isinstance(child, Element):
                wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
                if tag in (None, child.tag) and all(
                    value in (child.attributes.get(name) or "").split() for name, value in wanted.items()
                ):
                    yield child
                yield from child.all(tag, **attributes)

    @property
    def words(self):
        """All words that are shown, with plain spaces."""
        return re.sub(r"\s+", " ", "".join(self._texts())).strip()

    def _texts(self):
        for child in self.children:
            if isinstance(child, str):
                yield child
            elif child.tag not in ("script", "style", "title"):
                inline = child.tag in ("bdi", "a", "small", "code", "strong", "output", "em")
                yield from child._texts() if inline else (" ", *child._texts(), " ")


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.at = self.root = Element("", {}, None)

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> has an attribute twice"
        new = Element(tag, dict(attrs), self.at)
        self.at.children.append(new)
        if tag not in _VOID:
            self.at = new

    def handle_endtag(self, tag):
        assert tag == self.at.tag, f"</{tag}> closes <{self.at.tag}>"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)


def read(page):
    """The elements of a page; every one must be closed where it should be."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.at is reader.root, f"<{reader.at.tag}> is not closed"
    return reader.root
