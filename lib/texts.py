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

from lib.datasets.downloads import NotAvailableError, cache_folder, fetch, read_file, sha256
from lib.files import DATA, write_whole

# words with inner apostrophes, numbers, dashes, and any other mark by itself
TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|-+|[^\w\s]")
ENDINGS = (".txt", ".txt.gz")
REMEDY = "put good copies into a folder and set the environment variable TEXTS_MIRROR to it"


def tokenize(text):
    """Split a text into words in lower case, numbers and punctuation marks.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
        In the order of the text; a word keeps the apostrophes inside it.
    """
    # typeset apostrophes are those of a typewriter
    return TOKEN.findall(text.replace("\u2019", "'").lower())


def read_texts(folder=None, download=True):
    """Read the eleven books of data/texts.csv, or the texts of a folder.

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
    texts = {}
    if folder is None:
        for book in _books():
            texts[book["name"]] = _decode(book["name"], _read_book(book, download))
        return texts
    paths = sorted(path for ending in ENDINGS for path in Path(folder).glob(f"*{ending}"))
    if not paths:
        raise ValueError(
            f"folder must be one that holds files *.txt or *.txt.gz; got {str(folder)!r}"
        )
    for path in paths:
        name = path.name.removesuffix(".gz").removesuffix(".txt")
        texts[name] = _decode(path.name, read_file(path))
    return texts


def names_of_texts():
    """Names of the eleven books."""
    return [book["name"] for book in _books()]


def _books():
    """Rows of data/texts.csv."""
    with open(DATA / "texts.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def status(folder=None):
    """Say whether the books, or a folder's texts, can be read without the network.

    Parameters
    ----------
    folder : str or path, optional
        As `read_texts` takes it.

    Returns
    -------
    status : {"here", "not available"}
    detail : str
        A sha256 of all texts, or the reason why there are none.
    """
    try:
        texts = read_texts(folder, download=False)
    except (NotAvailableError, OSError, ValueError) as error:
        return "not available", str(error)
    # a chapter's key changes with any text or name
    return "here", sha256("\0".join([*texts, *texts.values()]).encode())


def _decode(name, contents):
    try:
        text = contents.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} must be in UTF-8; byte {error.start:,} is {contents[error.start]:#04x}"
        ) from None
    if not text.strip():
        raise ValueError(f"{name} must hold text; it is empty")
    return text


def _read_book(book, download):
    """Contents of one of the books: from the mirror, the cache or its address."""
    for path in _copies(book["name"]):
        contents = read_file(path)
        if sha256(contents) == book["sha256"]:
            return contents
        # a wrong copy in the cache is replaced; one in the mirror is for its owner to mend
        if path.parent != cache_folder():
            raise NotAvailableError(
                f"{path.name}: the copy in TEXTS_MIRROR has not the sha256 of data/texts.csv"
            )
    if not download:
        raise NotAvailableError(
            f"{book['name']}: not downloaded yet; read_texts() fetches it from {book['address']}"
        )
    contents = _cut_out(book, _fetch_page(book))
    cache_folder().mkdir(parents=True, exist_ok=True)
    write_whole(cache_folder() / f"{book['name']}.txt", contents)
    return contents


def _copies(name):
    """Files of a book in the mirror and in the cache."""
    folders = [cache_folder()]
    mirror = os.environ.get("TEXTS_MIRROR")
    if mirror and not Path(mirror).is_dir():
        raise NotAvailableError(f"TEXTS_MIRROR must name a folder; {mirror!r} does not exist")
    if mirror:
        folders.insert(0, Path(mirror))
    paths = [folder / f"{name}{ending}" for folder in folders for ending in ENDINGS]
    return [path for path in paths if path.is_file()]


def _fetch_page(book):
    """Contents of the file at the address of a book, whose licence and notes may change."""
    with TemporaryDirectory() as folder:
        try:
            return fetch(book["address"], folder, "book").read_bytes()
        except OSError as error:
            raise NotAvailableError(
                f"{book['name']}: the download from {book['address']} failed "
                f"({type(error).__name__}); {REMEDY}"
            ) from None


def _cut_out(book, page):
    """The book within a downloaded file: as many bytes as it has, from its first words on."""
    # the sha256 is of lines that end as on Unix
    page = page.replace(b"\r\n", b"\n")
    for match in re.finditer(re.escape(book["begins"].encode()), page):
        text = page[match.start() : match.start() + int(book["bytes"])]
        if sha256(text) == book["sha256"]:
            return text
    raise NotAvailableError(
        f"{book['name']}: the file at {book['address']} has another text; {REMEDY}"
    )
