"""The word "proved", which never stands on the page without what it means at hand."""

from __future__ import annotations

from slimline.report.page.html import Html, element

MEANING = (
    "Proved equal to the exact model's, the one that training on all of the data to the end would give. "
    "Not a cause, and not true of the world."
)
#: Where the page says more.
ANCHOR = "what-proved-means"


def proved(words: str = "proved") -> Html:
    """Return words that claim a proof, with what that means as a link and for whoever points at them.

    Parameters
    ----------
    words : str
        Such as "proved" or "certified".

    Returns
    -------
    markup : Html
        A link to the explanation.
    """
    return element("a", words, class_="proved", href=f"#{ANCHOR}", title=MEANING)


def standing_note() -> Html:
    """Return the line that stands below the first lines.

    Returns
    -------
    markup : Html
        A paragraph.
    """
    return element(
        "p",
        element("strong", "“Proved”"),
        " on this page means: proved equal to the exact model’s, the one that training on all of the data to the end "
        "would give. It does not mean that a column causes anything, nor that the exact model is right about the "
        "world. ",
        element("a", "More on this", href=f"#{ANCHOR}"),
        class_="standing",
    )


def explanation() -> Html:
    """Return what "proved" means, in full.

    Returns
    -------
    markup : Html
        Paragraphs for the end of the page.
    """
    said = (
        "A linear classifier is the answer to a minimisation over all rows and columns that were given. Solved to the "
        "end, that problem has one answer: the exact model. The model of this page was found by a shorter way, and "
        "with it came a certificate, a calculation that bounds how far the two can be apart. No probability is "
        "attached to that bound, and rounding is accounted for.",
        "So where a weight, a place among the largest weights or a label is called proved, the exact model has it too. "
        "What is not proved may still be the same: the bound was not tight enough to tell.",
        "A proof is not about causes. A column of noise, or one that merely travels with another, can be proved to be "
        "among the largest weights of the exact model. Whether the exact model is right about the world is what the "
        "held-out rows and further studies are for.",
    )
    return element("div", [element("p", words) for words in said], class_="prose")
