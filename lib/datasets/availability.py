"""Which of the data that are not shipped can be had: it is part of the key of a chapter."""

import os
from pathlib import Path

from lib import texts
from lib.datasets import downloads
from lib.datasets.catalogue import catalogue

MIRRORS = ("UCI_MIRROR", "UCI_CACHE", "TEXTS_MIRROR")  # variables with folders of copies


def remote_status(names, folder=None):
    """Say which data can be had without the network, of those that the repository does not ship.

    Parameters
    ----------
    names : collection of str
        Data sets, of which those that are shipped or unknown are passed over; "texts" for the books
        of `lib.texts.read_texts`; "wordnet" for what `lib.texts.read_tags` reads; "mirrored" for
        the files that only a mirror has.
    folder : path, optional
        A folder of texts that is read instead of the books.

    Returns
    -------
    dict of str to (status, reason)
        Contents are checked: a damaged copy is "not available".
    """
    statuses = {entry.name: downloads.status(entry) for entry in _remote_entries(names)}
    if "texts" in names:
        statuses["texts"] = texts.status(folder)
    if "wordnet" in names:
        statuses["wordnet"] = texts.wordnet_status()
    if "mirrored" in names:
        for file in downloads.ONLY_MIRRORED:
            is_there = downloads.read_mirrored(file) is not None
            statuses[file] = ("mirrored", "in UCI_MIRROR") if is_there else ("not available", "")
    return statuses


def unverified_paths(paths):
    """The paths, sorted, that are not copies in a mirror or the cache, which are verified.

    A copy there that bears the name of a file in data/manifest.csv or data/texts.csv is compared
    with the sha256 of that list whenever it is read, and so are WordNet's files.
    """
    if not paths:
        return []
    verified_names = file_names({*catalogue(), "texts", "wordnet"})
    folders = [os.path.abspath(os.environ[name]) for name in MIRRORS if os.environ.get(name)]
    folders.append(os.path.abspath(texts.wordnet_folder()))
    return sorted(path for path in paths if not _is_copy(Path(path), verified_names, folders))


def _is_copy(path, names, folders):
    return path.name.removesuffix(".gz") in names and str(path.parent) in folders


def file_names(names):
    """Names, without .gz, of the files of data sets, texts and WordNet.

    `names` are as in `remote_status`.

    Returns
    -------
    set of str
        The names themselves are among them, as some are those of files.
    """
    files = set(names)
    for entry in _remote_entries(names):
        files.update(entry.files)
    if "texts" in names:
        files.update(f"{name}.txt" for name in texts.names_of_texts())
    if "wordnet" in names:
        files.update(texts.WORDNET_FILES)
    return files


def _remote_entries(names):
    """Entries of the catalogue, of these names, whose files are at UCI."""
    return [entry for entry in catalogue().values() if entry.kind == "uci" and entry.name in names]
