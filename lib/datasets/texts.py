"""Texts: eleven public-domain books, or the reader's own; their tokens, and what these may be.

The books are not shipped. They come as UCI's files do: from the folder that the environment
variable `TEXTS_MIRROR` names, from the cache (`UCI_CACHE` names another), or over https from the
addresses in data/texts.csv, with the sha256 of each checked.

Parts of speech are looked up in WordNet 3.0, which is not shipped either: Debian's package
wordnet-base has it, or the folder that the environment variable `WORDNET` names.
"""

import csv
import os
import re
import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory

from lib.base.files import DATA, write_whole
from lib.datasets.downloads import NotAvailableError, download_folder, fetch, read_file, sha256

# words with inner apostrophes, numbers, dashes, and any other mark by itself; an accent that makes
# no single character with its letter follows it
_LETTERS = r"(?:[^\W\d_][\u0300-\u036f]*)+"
TOKEN = re.compile(rf"{_LETTERS}(?:'{_LETTERS})*|\d+|-+|[^\w\s]")
# typeset apostrophes, and acute accents in their place, are those of a typewriter; soft hyphens and
# characters without width go
SPELLING = str.maketrans("\u2019\u00b4", "''", "\u00ad\u200b\u200c\u200d\u2060\ufeff")
ENDINGS = (".txt", ".txt.gz")
WORDNET_FOLDER = "/usr/share/wordnet"  # of Debian's package wordnet-base
REMEDY = "put good copies into a folder and set the environment variable TEXTS_MIRROR to it"

# WordNet 3.0: lemmas of each part of speech, and irregular forms; file names and sha256
WORDNET_FILES = {
    "index.noun": "a490d99d93d017bf4822fe2f0ffa51fd73911ce271dc7535fade21f8814b5a04",
    "index.verb": "e2ac24816c3a8289dcb72aaa9cf8db81fdf25ec34d792bfc96ac5b7a20c8b4ae",
    "index.adj": "c9865d7b4d1f805bdef82ccdcea5282436e23083e6f6f1b33e716327c4eda810",
    "index.adv": "6f5465ed5758fe9c8a2f7ec17b1300f3aa875756c70ff7cba162f7e71bcf88ea",
    "noun.exc": "2b5d675c380b39ecf595af9fa9d4e7feb1d58c643b0bff08c40ed5bfe41fab7a",
    "verb.exc": "dbbcf9a601b2d77e934e413b91d90e88ec7f933a8b77cfc00602a923b891b42c",
    "adj.exc": "8824cc24bbedd797b9702316b27f07cd4c2b76b629539f0a1276f03926758016",
    "adv.exc": "e7291461b629abfe63301bbe1998cee09fd575ed7107abd7ea9763adb05bf0a8",
}
# Words of closed classes; they have these tags alone, as WordNet lists "a" and "in" as nouns.
FUNCTION_WORDS = {
    "DET": "a an the this that these those each every either neither some any no another such both "
    "all half many much few several enough",
    "PRON": "i you he she it we they me him her us them myself yourself himself herself itself "
    "ourselves themselves mine yours hers ours theirs who whom which what anybody anyone anything "
    "everybody everyone everything nobody nothing none somebody someone something thee thou",
    "POSS": "my your his her its our their whose thy",
    "PREP": "about above across after against along amid among amongst around at before behind "
    "below beneath beside besides between beyond by despite down during except for from in inside "
    "into like near of off on onto out outside over past per round since through throughout till "
    "to toward towards under until unto up upon with within without",
    "CONJ": "and but or nor yet for because although though while whilst if unless whether since "
    "as when where before after until till that than",
    "TO": "to",
    "MODAL": "can could may might must shall should will would ought cannot can't couldn't mustn't "
    "shan't shouldn't won't wouldn't",
    "BE": "be am is are was were been being isn't aren't wasn't weren't i'm it's he's she's that's "
    "you're we're they're",
    "HAVE": "have has had having haven't hasn't hadn't i've you've we've they've",
    "DO": "do does did done doing don't doesn't didn't",
    "ADV": "not never ever very too so then there here now just only even still also again always "
    "often soon quite rather almost perhaps how why when where",
    "NUMBER": "one two three four five six seven eight nine ten twenty hundred thousand",
}
# Regular forms as WordNet undoes them: tag, part of speech of the lemma, ending, its replacement.
FORMS = (
    ("PLURAL", "noun", "s", ""),
    ("PLURAL", "noun", "ses", "s"),
    ("PLURAL", "noun", "xes", "x"),
    ("PLURAL", "noun", "zes", "z"),
    ("PLURAL", "noun", "ches", "ch"),
    ("PLURAL", "noun", "shes", "sh"),
    ("PLURAL", "noun", "men", "man"),
    ("PLURAL", "noun", "ies", "y"),
    ("VERB-S", "verb", "s", ""),
    ("VERB-S", "verb", "ies", "y"),
    ("VERB-S", "verb", "es", "e"),
    ("VERB-S", "verb", "es", ""),
    ("VERB-ED", "verb", "ed", "e"),
    ("VERB-ED", "verb", "ed", ""),
    ("VERB-ING", "verb", "ing", "e"),
    ("VERB-ING", "verb", "ing", ""),
    ("ADJ", "adj", "er", ""),
    ("ADJ", "adj", "est", ""),
    ("ADJ", "adj", "er", "e"),
    ("ADJ", "adj", "est", "e"),
)
IRREGULAR = {"noun": "PLURAL", "verb": "VERB-ED", "adj": "ADJ", "adv": "ADV"}


def tokenize(text):
    """Split a text into words in lower case, numbers and punctuation marks.

    Parameters
    ----------
    text : str
        Accents may be part of their letters or follow them, as in files of macOS and PDF.

    Returns
    -------
    list of str
        In the order of the text; a word keeps the apostrophes inside it, and loses soft hyphens and
        characters without width. Letters are composed (Unicode's form NFC).
    """
    text = unicodedata.normalize("NFC", text.translate(SPELLING))
    return TOKEN.findall(text.lower())


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
        if path.parent != download_folder():
            raise NotAvailableError(
                f"{path.name}: the copy in TEXTS_MIRROR has not the sha256 of data/texts.csv"
            )
    if not download:
        raise NotAvailableError(
            f"{book['name']}: not downloaded yet; read_texts() fetches it from {book['address']}"
        )
    contents = _cut_out(book, _fetch_page(book))
    download_folder().mkdir(parents=True, exist_ok=True)
    write_whole(download_folder() / f"{book['name']}.txt", contents)
    return contents


def _copies(name):
    """Files of a book in the mirror and in the cache."""
    folders = [download_folder()]
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


def read_tags(words, folder=None):
    """Look up the parts of speech that words may be: their tags.

    Parameters
    ----------
    words : iterable of str
        Tokens, in lower case.
    folder : str or path, optional
        A folder of one's own with files as WordNet has them, which are read unchecked.

    Returns
    -------
    dict of str to tuple of str
        The tags of each word that has any, in the order of the alphabet, in capitals: NOUN, PLURAL,
        VERB, VERB-S, VERB-ED (also participles), VERB-ING, ADJ and ADV by WordNet's lemmas, its
        lists of irregular forms, and endings; NUMBER of digits; and for words of closed classes
        only those of `FUNCTION_WORDS`. Marks and unknown words have none.

    Raises
    ------
    NotAvailableError
        If there is no WordNet 3.0 in WORDNET or, where this is not set, in /usr/share/wordnet; or
        a file is missing.
    """
    # of each part of speech: its lemmas, and the irregular forms
    lemmas = {}
    irregular_forms = {}
    for part in IRREGULAR:
        lines = _read_wordnet(f"index.{part}", folder)
        # the licence stands in lines that begin with a space
        lemmas[part] = {line.split(" ", 1)[0] for line in lines if line[:1].strip()}
        lines = _read_wordnet(f"{part}.exc", folder)
        irregular_forms[part] = {line.split(" ", 1)[0] for line in lines}
    function_tags = {}
    for tag, members in FUNCTION_WORDS.items():
        for word in members.split():
            function_tags.setdefault(word, set()).add(tag)
    tags = {}
    for word in words:
        word_tags = function_tags.get(word) or _open_tags(word, lemmas, irregular_forms)
        if word_tags:
            tags[word] = tuple(sorted(word_tags))
    return tags


def _open_tags(word, lemmas, irregular_forms):
    """The tags of a word that is not of a closed class."""
    if word.isdigit():
        return {"NUMBER"}
    tags = {part.upper() for part in lemmas if word in lemmas[part]}
    for part, tag in IRREGULAR.items():
        if word in irregular_forms[part]:
            # verb.exc has the few forms in -ing that double a letter
            tags.add("VERB-ING" if part == "verb" and word.endswith("ing") else tag)
    for tag, part, ending, replacement in FORMS:
        if word.endswith(ending) and word[: -len(ending)] + replacement in lemmas[part]:
            tags.add(tag)
    return tags


def wordnet_status():
    """Say whether WordNet can be read.

    Returns
    -------
    status : {"here", "not available"}
    detail : str
        The reason why it cannot be, or nothing.
    """
    try:
        for name in WORDNET_FILES:
            _read_wordnet(name, None)
    except NotAvailableError as error:
        return "not available", str(error)
    return "here", ""


def wordnet_folder():
    """The folder in which WordNet is looked for."""
    return Path(os.environ.get("WORDNET") or WORDNET_FOLDER)


def _read_wordnet(name, folder):
    """Lines of one of WordNet's files; those of a folder of one's own are taken as they are."""
    path = wordnet_folder() if folder is None else Path(folder)
    try:
        contents = (path / name).read_bytes()
    except OSError as error:
        raise NotAvailableError(
            f"{name} of WordNet is not in {str(path)!r} ({type(error).__name__}): install Debian's "
            "wordnet-base, or set the environment variable WORDNET to the folder that has it"
        ) from None
    if folder is None and sha256(contents) != WORDNET_FILES[name]:
        raise NotAvailableError(f"{name} in {str(path)!r} is not that of WordNet 3.0 (its sha256)")
    return contents.decode("utf-8").splitlines()
