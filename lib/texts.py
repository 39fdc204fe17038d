"""Texts: eleven public-domain books, or the reader's own, and their tokens.

The books are not shipped. They come as UCI's files do: from the folder that the environment
variable `TEXTS_MIRROR` names, from the cache (`UCI_CACHE` names another), or over https from the
addresses in data/texts.csv, with the sha256 of each checked.
"""

import csv
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from lib.datasets import downloads
from lib.datasets.downloads import NotAvailableError, cache, pooch, sha256
from lib.files import DATA, write_whole

TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|-+|[^\w\s]")
ENDINGS = (".txt", ".txt.gz")
REMEDY = "put good copies into a folder and set the environment variable TEXTS_MIRROR to it"


def tokenize(text):
    """Words in lower case, with the apostrophes inside them, numbers and punctuation marks, in their order.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
    """
    return TOKEN.findall(text.replace("\u2019", "'").lower())


def read_texts(folder=None, download=True):
    """Read the eleven books of data/texts.csv, or those of a folder.

    Parameters
    ----------
    folder : str or path, optional
        A folder of one's own, whose files ``*.txt`` and ``*.txt.gz``, in UTF-8, are read.
    download : bool
        Whether books that are neither in TEXTS_MIRROR nor in the cache are fetched.

    Returns
    -------
    dict of str to str
        Text by the name of its file, without endings, in the order of the names.

    Raises
    ------
    ValueError
        If the folder has no text or is none, or a text is empty or in another encoding.
    NotAvailableError
        If a book can be had neither from TEXTS_MIRROR, the cache nor its address.
    """
    if folder is None:
        return {book["name"]: _decoded(book["name"], _book(book, download)) for book in _books()}
    paths = sorted(path for ending in ENDINGS for path in Path(folder).glob(f"*{ending}"))
    if not paths:
        raise ValueError(
            f"folder must be one that holds files *.txt or *.txt.gz; got {str(folder)!r}"
        )
    return {
        path.name.removesuffix(".gz").removesuffix(".txt"): _decoded(path.name, _bytes(path))
        for path in paths
    }


def names_of_texts():
    """Names of the eleven books."""
    return [book["name"] for book in _books()]


def _books():
    """Rows of data/texts.csv."""
    with open(DATA / "texts.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def status(folder=None):
    """What can be had of the books, or of a folder's texts, without the network: a word, and a sha256 or the reason.

    Parameters
    ----------
    folder : str or path, optional
        As `read_texts` takes it.
    """
    try:
        books = read_texts(folder, download=False)
    except (NotAvailableError, OSError, ValueError) as error:
        return "not available", str(error)
    return "here", sha256("\0".join([*books, *books.values()]).encode())


def _bytes(path):
    """Contents of a file, unpacked if its name ends in .gz."""
    with open(path, "rb") as file:
        return downloads._unpacked(file, path.name)


def _decoded(name, contents):
    try:
        text = contents.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} must be in UTF-8; byte {error.start:,} is {contents[error.start]:#04x}"
        ) from None
    if not text.strip():
        raise ValueError(f"{name} must hold text; it is empty")
    return text


def _book(book, download):
    """Contents of one of the books: from the mirror, the cache or its address."""
    for path in _copies(book["name"]):
        contents = _bytes(path)
        if sha256(contents) == book["sha256"]:
            return contents
        if path.parent != cache():
            raise NotAvailableError(
                f"{path.name}: the copy in TEXTS_MIRROR has not the sha256 of data/texts.csv"
            )
    if not download:
        raise NotAvailableError(
            f"{book['name']}: not downloaded yet; read_texts() fetches it from {book['address']}"
        )
    contents = _cut(_fetched(book), book)
    cache().mkdir(parents=True, exist_ok=True)
    write_whole(cache() / f"{book['name']}.txt", contents)
    return contents


def _copies(name):
    """Files of a book in the mirror and in the cache."""
    mirror = os.environ.get("TEXTS_MIRROR")
    if mirror and not Path(mirror).is_dir():
        raise NotAvailableError(f"TEXTS_MIRROR must name a folder; {mirror!r} does not exist")
    folders = [Path(mirror), cache()] if mirror else [cache()]
    return [
        path
        for folder in folders
        for ending in ENDINGS
        if (path := folder / f"{name}{ending}").is_file()
    ]


def _fetched(book):
    fetch = downloads._Downloader(
        timeout=downloads.TIMEOUT, hooks={"response": downloads._refuse_insecure}
    )
    with TemporaryDirectory() as folder:
        try:
            return Path(
                pooch.retrieve(book["address"], None, "book", folder, downloader=fetch)
            ).read_bytes()
        except OSError as error:
            failed = f"{book['name']}: the download from {book['address']} failed ({type(error).__name__})"
            raise NotAvailableError(f"{failed}; {REMEDY}") from None


def _cut(contents, book):
    """The book within a downloaded file: as many bytes as it has, from its first words on."""
    contents = contents.replace(b"\r\n", b"\n")
    for begin in re.finditer(re.escape(book["begins"].encode()), contents):
        text = contents[begin.start() :][: int(book["bytes"])]
        if sha256(text) == book["sha256"]:
            return text
    raise NotAvailableError(
        f"{book['name']}: the file at {book['address']} has another text; {REMEDY}"
    )
