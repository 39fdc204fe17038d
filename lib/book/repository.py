"""The repository's address, one line of ``_config.yml``, and the buttons that follow from it."""

import re

from lib.book.run.project import BookError

ADDRESS = re.compile(r"https://[\w.-]+(/[\w.-]+)*/[\w.-]+/[\w.-]+")
BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"


def theme_options(config: dict) -> dict:
    """Return the options of the theme for the buttons that the repository's address allows.

    A repository anywhere can be seen, and opened on Binder. On GitHub there are buttons to edit a
    page, to open an issue and for Colab, too. Without an address there are none.

    Parameters
    ----------
    config : dict
        The settings in ``_config.yml``.
    """
    url = address(config)
    if not url:
        return {}
    on_github = url.startswith("https://github.")
    launch_buttons = {"notebook_interface": "jupyterlab", "binderhub_url": BINDER}
    if on_github:
        launch_buttons["colab_url"] = COLAB
    # These options replace those that jupyter-book makes of its own settings.
    return {
        "repository_url": url,
        "repository_branch": config["repository"].get("branch") or "main",
        # The theme fails for a host that it does not know, unless it is given the name of another.
        "repository_provider": "github" if on_github else "gitlab",
        "path_to_docs": "",
        "use_repository_button": True,
        "use_edit_page_button": on_github,
        "use_issues_button": on_github,
        "launch_buttons": launch_buttons,
    }


def address(config: dict) -> str:
    """Return the repository's address in ``_config.yml`` (``repository: url:``), empty if unset.

    Raises
    ------
    BookError
        If it is not of the form https://HOST/OWNER/NAME.
    """
    repository = config.get("repository") or {}
    url = str(repository.get("url") or "").strip().removesuffix("/").removesuffix(".git")
    if url and not ADDRESS.fullmatch(url):
        raise BookError(
            f"_config.yml: repository url = {url!r}: expected https://HOST/OWNER/NAME, or nothing"
        )
    return url
