# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documentation site: `./dev docs` builds it, with every warning an error."""

import re
import subprocess
import tomllib
from pathlib import Path

from sphinx.util import logging

ROOT = Path(__file__).resolve().parents[1]
with (ROOT / "pyproject.toml").open("rb") as file:
    version = release = tomllib.load(file)["project"]["version"]

project = "warpheap"
author = "the authors of warpheap"
extensions = ["breathe", "myst_parser"]
html_theme = "furo"
html_title = f"warpheap {version}"
exclude_patterns = ["site"]
myst_heading_anchors = 4
nitpicky = True
# What the signatures name and no page describes: the standard library's, and details.
nitpick_ignore_regex = [("cpp:identifier", ".*")]

# What this folder's Doxyfile makes of the headers.
breathe_projects = {"warpheap": str(ROOT / "build/docs/xml")}
breathe_default_project = "warpheap"
breathe_default_members = ("members",)

# Pages of the checkout that the site does not have, and whose links are checked all the same.
OTHER_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "include/warpheap/README.md")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
RELATIVE = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)#\s]*)(#[^)]*)?\)")


def leave_the_site(app, docname: str, source: list[str]) -> None:
    """Turns links to files of the checkout outside of docs/ into plain text: the site lacks them.

    A link to a file that does not exist stays, and is reported as broken.
    """
    page = Path(app.srcdir) / docname

    def plain(link: re.Match[str]) -> str:
        target = (page.parent / link[2]).resolve()
        outside = not target.is_relative_to(Path(app.srcdir).resolve())
        return f"{link[1]}" if outside and target.exists() else link[0]

    source[0] = LINK.sub(plain, source[0])


def check_other_pages() -> None:
    """Warns of links of OTHER_PAGES that lead nowhere."""
    for name in OTHER_PAGES:
        page = ROOT / name
        for target in RELATIVE.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
            if not (page.parent / target).exists():
                logging.getLogger(__name__).warning("%s: no file %s", name, target)


def setup(app) -> None:
    """Called by Sphinx."""
    check_other_pages()
    (ROOT / "build/docs").mkdir(parents=True, exist_ok=True)
    subprocess.run(["doxygen", "docs/Doxyfile"], cwd=ROOT, check=True)
    app.connect("source-read", leave_the_site)
