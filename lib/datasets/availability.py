"""Which of the data that are not shipped can be had: it is part of the key of a chapter."""

from lib.datasets import downloads, texts
from lib.datasets.catalogue import catalogue


def remote_status(names, folder=None):
    """Say which data can be had without the network, of those that the repository does not ship.

    Parameters
    ----------
    names : collection of str
        Data sets, of which those that are shipped or unknown are passed over; "texts" for the books
        of `lib.datasets.texts.read_texts`; "wordnet" for what `lib.datasets.texts.read_tags` reads; "mirrored" for
        the files that only a mirror has.
    folder : path, optional
        A folder of texts that is read instead of the books.

    Returns
    -------
    dict of str to (status, reason)
        Contents are checked: a damaged copy is "not available".
    """
    statuses = {entry.name: downloads.download_status(entry) for entry in _remote_entries(names)}
    if "texts" in names:
        statuses["texts"] = texts.status(folder)
    if "wordnet" in names:
        statuses["wordnet"] = texts.wordnet_status()
    if "mirrored" in names:
        for file in downloads.ONLY_MIRRORED:
            is_there = downloads.read_mirrored(file) is not None
            statuses[file] = ("mirrored", "in UCI_MIRROR") if is_there else ("not available", "")
    return statuses


def _remote_entries(names):
    """Entries of the catalogue, of these names, whose files are at UCI."""
    return [entry for entry in catalogue().values() if entry.kind == "uci" and entry.name in names]
