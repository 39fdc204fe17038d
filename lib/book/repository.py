"""The book's address: one setting in ``_config.yml``, empty until it is known, and the buttons that follow from it."""

import re

from lib.book.project import BookError

ADDRESS = re.compile(r"https://[\w.-]+(/[\w.-]+)*/[\w.-]+/[\w.-]+")
BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"


def configure(config: dict) -> dict:
    """Return jupyter-book's configuration with the buttons that the repository's address allows: none without one.

    A repository anywhere can be opened on Binder. On GitHub and GitLab there are buttons to edit a page and to open an
    issue, too, and on GitHub one for Colab.
    """
    url = address(config)
    if not url:
        return {key: value for key, value in config.items() if key not in ("repository", "launch_buttons")}
    # The theme stops at a host that it does not know, unless it is told to take it for another.
    host = next((name for name in ("github", "gitlab") if url.startswith(f"https://{name}.")), None)
    launch = {"notebook_interface": "jupyterlab", "binderhub_url": BINDER}
    buttons = {
        "repository_url": url,
        "repository_branch": config["repository"].get("branch") or "main",
        "repository_provider": host or "gitlab",
        "path_to_docs": "",
        "use_repository_button": True,
        "use_edit_page_button": host is not None,
        "use_issues_button": host is not None,
        "launch_buttons": launch | ({"colab_url": COLAB} if host == "github" else {}),
    }
    sphinx = config.get("sphinx") or {}
    settings = sphinx.get("config") or {}
    # jupyter-book lets these options take the place of those that it makes of its own settings.
    options = {**settings.get("html_theme_options", {}), **buttons}
    return {**config, "sphinx": {**sphinx, "config": {**settings, "html_theme_options": options}}}


def address(config: dict) -> str:
    """Return the repository's address in ``_config.yml`` (``repository: url:``), or nothing if it is not set."""
    url = str((config.get("repository") or {}).get("url") or "").strip().removesuffix("/").removesuffix(".git")
    if url and not ADDRESS.fullmatch(url):
        raise BookError(f"_config.yml: repository url = {url!r}: expected https://HOST/OWNER/NAME, or nothing")
    return url
