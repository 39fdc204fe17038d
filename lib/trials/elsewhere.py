"""What can be had of the data that are not shipped: part of a chapter's key, and no module of any trial's."""


def fetched(names, folder=None):
    """What can be had, its contents checked, of those of these data sets that are not shipped: status and reason.

    "texts" are the books of `lib.texts.read_texts`, or what is in the folder.
    """
    from lib import texts  # and what fetches data, which takes a moment
    from lib.datasets import files
    from lib.datasets.catalogue import catalogue

    entries = [entry for entry in catalogue().values() if entry.kind == "uci" and entry.name in names]
    books = {"texts": texts.status(folder)} if "texts" in names else {}
    return {entry.name: files.status(entry) for entry in entries} | books
