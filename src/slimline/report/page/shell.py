"""A page that needs nothing else: head, style, script, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from slimline.report.page.html import Html, element


def whole_page(title: str, body: Html, style: str = "", script: str = "") -> str:
    """Return a page that loads nothing; its security policy lets no script run but its own.

    Parameters
    ----------
    title : str
        What the window is called.
    body : Html
        A `body` element without the script.
    style : str
        CSS in addition to that of all pages.
    script : str
        JavaScript, run when all is there; none where it is empty.

    Returns
    -------
    page : str
        HTML.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        element("style", Html(page_part("page.css") + style)),
    )
    if script:
        body = Html(body.removesuffix("</body>") + element("script", Html(script)) + "</body>")
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en") + "\n"


@cache
def page_part(name: str, package: str = "slimline.report.page") -> str:
    """Return a file that comes with the package.

    Parameters
    ----------
    name : str
        Its name.
    package : str
        Whose.

    Returns
    -------
    text : str
        What is in it.
    """
    return files(package).joinpath(name).read_text(encoding="utf-8")
