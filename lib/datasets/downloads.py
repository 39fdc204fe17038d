"""The bytes of a data set's files: shipped, in a mirror, in the cache or at UCI, always with their sha256 checked.

Downloads are made over https only, redirections included. A file is read as text and never run; no
archive is unpacked by the names in it.

Environment variables: `UCI_MIRROR` names a folder with files named as UCI names them (or with .gz
added), which is looked at first; `UCI_CACHE` names the folder of downloaded files, by default the
user's cache folder.
"""

import gzip
import hashlib
import io
import os
import re
import warnings
import zlib
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from lib.datasets.catalogue import DATA

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # in a notebook tqdm, which pooch imports, asks for widgets
    import pooch
    from pooch import HTTPDownloader
    from requests import RequestException

TIMEOUT = (6, 20)  # seconds to connect, and between two bytes
LARGEST = 64 * 2**20  # bytes of a file, unpacked; the largest of the manifest has about two million
FILE_NAME = re.compile(r"\w[\w.+-]*", re.ASCII)
SHA256 = re.compile(r"[0-9a-f]{64}")
# Files that are in no set of the manifest, as no address has them for sure, with their sha256.
# MLC++'s rows
ONLY_MIRRORED = {
    "mofn-3-7-10.data": "154e9c7dfd7b4efb0665e687133ad9fd090c319007b69782cdbed9de7ade7b65"
}

pooch.get_logger().setLevel("WARNING")  # what it says names folders of the user


class NotAvailableError(RuntimeError):
    """A data set that this repository does not ship and that could not be had; the message says why and what to do."""


def sha256(data):
    """SHA-256 of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def read(entry):
    """Contents of all files of a set, and their source: shipped, mirror, cache (also when just downloaded).

    Raises
    ------
    ValueError
        If a shipped file is not what the manifest says, or the manifest is unsafe (see `check`).
    NotAvailableError
        If a file is neither here nor to be had.
    """
    check(entry)
    if entry.kind == "shipped":
        return [shipped(entry)], "shipped"
    copies = [local(entry, file) or (download(entry, file), "cache") for file in entry.files]
    return [data for data, _ in copies], " and ".join(sorted({source for _, source in copies}))


def check(entry):
    """Raise ValueError unless a set has plain file names, a sha256 for each and, to fetch it, an https address."""
    if len(entry.sha256) != len(entry.files):
        raise ValueError(
            f"{entry.name}: sha256 must be given for each of {len(entry.files)} files; got {entry.sha256}"
        )
    for file, digest in zip(entry.files, entry.sha256, strict=True):
        if not FILE_NAME.fullmatch(file):
            raise ValueError(
                f"{entry.name}: file {file!r} must be a plain name of letters, digits and . _ + -"
            )
        if not SHA256.fullmatch(digest):
            raise ValueError(
                f"{entry.name}: sha256 {digest!r} must be 64 hexadecimal digits in lower case"
            )
    if entry.kind == "uci" and not _is_secure(entry.address):
        raise ValueError(
            f"{entry.name}: address {entry.address!r} must begin with https:// and a host"
        )


def _is_secure(address):
    parts = urlsplit(address)
    return parts.scheme == "https" and bool(parts.hostname)


def shipped(entry):
    """Contents of the file in data/, decompressed; ValueError says what is wrong with it."""
    path = DATA / entry.files[0]
    remedy = f"restore it with `git checkout -- data/{path.name}`"
    if not path.is_file():
        raise ValueError(f"{entry.name}: data/{path.name} is not there; {remedy}")
    raw = path.read_bytes()
    if sha256(raw) != entry.sha256[0]:
        raise ValueError(
            f"{entry.name}: data/{path.name} is damaged, as its sha256 is {sha256(raw)}; {remedy}"
        )
    return _unpacked(io.BytesIO(raw), path.name)


def _unpacked(file, name):
    try:
        data = (gzip.GzipFile(fileobj=file) if name.endswith(".gz") else file).read(LARGEST + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError(f"{name} is not a complete gzip file") from None
    if len(data) > LARGEST:
        raise ValueError(f"{name} has more than {LARGEST:,} bytes, unpacked")
    return data


def local(entry, file):
    """Contents and source of a file in the mirror or in the cache, or None."""
    if mirror := os.environ.get("UCI_MIRROR"):
        if not Path(mirror).is_dir():
            raise _error(entry, file, f"UCI_MIRROR names a folder that does not exist: {mirror!r}")
        for path in (Path(mirror) / file, Path(mirror) / f"{file}.gz"):
            if path.is_file():
                return _mirror_copy(entry, file, path), "mirror"
    path = cache() / file
    data = path.read_bytes() if path.is_file() else b""
    return (data, "cache") if sha256(data) == expected(entry, file) else None


def mirrored(file):
    """Contents of one of the files `ONLY_MIRRORED`; None unless `UCI_MIRROR` has it, with its sha256.

    Whether it is there is part of the key of a chapter that calls this.
    """
    path = Path(os.environ.get("UCI_MIRROR") or os.devnull) / file
    if not path.is_file():
        return None
    contents = path.read_bytes()
    return contents if sha256(contents) == ONLY_MIRRORED[file] else None


def _mirror_copy(entry, file, path):
    try:
        with open(path, "rb") as copy:
            data = _unpacked(copy, path.name)
    except (OSError, ValueError) as error:
        raise _error(entry, file, f"the copy in UCI_MIRROR cannot be read ({error})") from None
    if sha256(data) != expected(entry, file):
        raise _error(
            entry,
            file,
            f"the copy in UCI_MIRROR has the sha256 {sha256(data)}, not that of the manifest",
        )
    return data


def cache():
    """Folder of the downloaded files."""
    return Path(os.environ.get("UCI_CACHE") or pooch.os_cache("when-the-model-is-wrong"))


def expected(entry, file):
    """SHA-256 of a file according to the manifest."""
    return entry.sha256[entry.files.index(file)]


class _LimitedFile(io.FileIO):
    def write(self, data):
        if self.tell() + len(data) > LARGEST:
            raise OSError(f"it has more than {LARGEST:,} bytes")
        return super().write(data)


class _Downloader(HTTPDownloader):
    def __call__(self, url, output_file, pooch):
        with _LimitedFile(output_file, "w") as file:
            super().__call__(url, file, pooch)


def _refuse_insecure(response, **_):
    """Stop at a redirection that leaves https, before anything is sent there."""
    target = urljoin(response.url, response.headers.get("location", ""))
    if not _is_secure(target):
        raise OSError(f"redirected to {target}, which is not https")


def download(entry, file):
    """Contents of a file at UCI, now also in the cache: written aside, checked, then moved there."""
    check(entry)
    digest = f"sha256:{expected(entry, file)}"
    fetch = _Downloader(timeout=TIMEOUT, hooks={"response": _refuse_insecure})
    try:
        path = pooch.retrieve(
            entry.address + file, digest, fname=file, path=cache(), downloader=fetch
        )
    except ValueError:
        doubt = (
            " (it was never confirmed to be that of UCI's very bytes)"
            if file in entry.unconfirmed
            else ""
        )
        raise _error(
            entry, file, f"the file there does not have the sha256 of the manifest{doubt}"
        ) from None
    except OSError as error:
        if error.errno and not isinstance(error, RequestException):
            full = f"{entry.name}: {file} cannot be kept in {str(cache())!r} ({_root(error)})"
            raise NotAvailableError(
                f"{full}; set the environment variable UCI_CACHE to a folder for it"
            ) from None
        first = "UCI_MIRROR does not have it and " if os.environ.get("UCI_MIRROR") else ""
        raise _error(entry, file, f"{first}the download failed ({_root(error)})") from None
    return Path(path).read_bytes()


def _root(error):
    """The first of a chain of errors, which says most."""
    while error.__context__ is not None:
        error = error.__context__
    return f"{type(error).__name__}: {error}"


def _error(entry, file, cause):
    return NotAvailableError(
        f"{entry.name}: no {file} from {entry.address + file}: {cause}. Either try again with a connection to that "
        f"address, or put a good copy of the file into a folder and set the environment variable UCI_MIRROR to it."
    )


def status(entry):
    """What can be had of a set without the network: a word and its reason."""
    if entry.kind == "excluded":
        return "not available", entry.changes
    if entry.kind == "synthetic":
        return "shipped", "a definition in lib.datasets.synthetic"
    try:
        check(entry)
        if entry.kind == "shipped":
            shipped(entry)
            return "shipped", f"data/{entry.files[0]}"
        sources = {file: local(entry, file) for file in entry.files}
    except (NotAvailableError, ValueError) as error:
        return "not available", str(error)
    absent = [file for file, copy in sources.items() if copy is None]
    if absent:
        doubt = (
            f" (bytes there not confirmed: {', '.join(entry.unconfirmed)})"
            if entry.unconfirmed
            else ""
        )
        fetch = f"load({entry.name!r}) fetches {', '.join(absent)} from {entry.address}{doubt}"
        return "not available", f"not downloaded yet: {fetch}"
    mirrored = "mirror" in {source for _, source in sources.values()}
    return ("mirrored", "in UCI_MIRROR") if mirrored else ("cached", "downloaded before")
