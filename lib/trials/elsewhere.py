"""What can be had of the data that are not shipped, which is part of a chapter's key."""

import os
from pathlib import Path

MIRRORS = ("UCI_MIRROR", "UCI_CACHE", "TEXTS_MIRROR")  # variables with folders of copies


def fetched(names, folder=None):
    """What can be had, its contents checked, of those of these data sets that are not shipped: status and reason.

    "texts" are the books of `lib.texts.read_texts`, or what is in the folder; "mirrored" are the
    files that only a mirror has.
    """
    from lib import texts  # and what fetches data, which takes a moment
    from lib.datasets import downloads
    from lib.datasets.catalogue import catalogue

    entries = [
        entry for entry in catalogue().values() if entry.kind == "uci" and entry.name in names
    ]
    books = {"texts": texts.status(folder)} if "texts" in names else {}
    extra = {file: ("not available", "") for file in downloads.ONLY_MIRRORED if "mirrored" in names}
    extra |= {
        file: ("mirrored", "in UCI_MIRROR")
        for file in extra
        if downloads.mirrored(file) is not None
    }
    return {entry.name: downloads.status(entry) for entry in entries} | books | extra


def unchecked(paths):
    """Those of these paths, sorted, that are no copies, in a mirror or the cache, which are checked against data/."""
    if not paths:
        return []
    from lib.datasets.catalogue import catalogue

    names = files_of({*catalogue(), "texts"})
    folders = [os.path.abspath(os.environ[name]) for name in MIRRORS if os.environ.get(name)]
    return sorted(
        p
        for p in paths
        if Path(p).name.removesuffix(".gz") not in names or str(Path(p).parent) not in folders
    )


def files_of(names):
    """Names of the files, less .gz, of these data sets, texts and files, as `fetched` names them."""
    from lib.datasets.catalogue import catalogue
    from lib.texts import names_of_texts

    entries = [
        entry for entry in catalogue().values() if entry.kind == "uci" and entry.name in names
    ]
    sets = [file for entry in entries for file in entry.files]
    texts = [f"{name}.txt" for name in names_of_texts()] if "texts" in names else []
    return {*sets, *texts, *names}
