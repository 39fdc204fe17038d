"""The book's address: one setting in ``_config.yml``, empty until it is known, and the buttons that follow from it."""

import re
from copy import deepcopy

from lib.book.project import BookError

ADDRESS = re.compile(r"https://[\w.-]+(/[\w.-]+)*/[\w.-]+/[\w.-]+")
BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"


def configure(config: dict) -> dict:
    """Return jupyter-book's configuration with the buttons that the repository's address allows: none without one.

    A repository anywhere can be seen, and opened on Binder. On GitHub there are buttons to edit a
    page, to open an issue and for Colab, too.
    """
    url = address(config)
    if not url:
        return {key: value for key, value in config.items() if key != "repository"}
    on_github = url.startswith("https://github.")
    launch = {"notebook_interface": "jupyterlab", "binderhub_url": BINDER}
    configured = deepcopy(config)
    # jupyter-book lets these options take the place of those that it makes of its own settings.
    configured["sphinx"]["config"]["html_theme_options"] |= {
        "repository_url": url,
        "repository_branch": config["repository"].get("branch") or "main",
        # The theme stops at a host that it does not know, unless it is told to take it for another.
        "repository_provider": "github" if on_github else "gitlab",
        "path_to_docs": "",
        "use_repository_button": True,
        "use_edit_page_button": on_github,
        "use_issues_button": on_github,
        "launch_buttons": launch | ({"colab_url": COLAB} if on_github else {}),
    }
    return configured


def address(config: dict) -> str:
    """Return the repository's address in ``_config.yml`` (``repository: url:``), or nothing if it is not set."""
    url = (
        str((config.get("repository") or {}).get("url") or "")
        .strip()
        .removesuffix("/")
        .removesuffix(".git")
    )
    if url and not ADDRESS.fullmatch(url):
        raise BookError(
            f"_config.yml: repository url = {url!r}: expected https://HOST/OWNER/NAME, or nothing"
        )
    return url
