"""The bytes of a data set's files: shipped, in a mirror, in the cache or at UCI.

The sha256 of each file is checked, wherever it comes from. Downloads are made over https only,
redirections included. A file is read as text and never run; no archive is unpacked by the names in
it.

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

from lib.datasets.catalogue import DATA, restore_words

TIMEOUT = (6, 20)  # seconds to connect, and between two bytes
LARGEST = 64 * 2**20  # bytes of a file, unpacked; the largest of the manifest has about two million
FILE_NAME = re.compile(r"\w[\w.+-]*", re.ASCII)
SHA256 = re.compile(r"[0-9a-f]{64}")
# Files of no set of the manifest, as no address has them for sure, with their sha256: MLC++'s rows
ONLY_MIRRORED = {
    "mofn-3-7-10.data": "154e9c7dfd7b4efb0665e687133ad9fd090c319007b69782cdbed9de7ade7b65"
}


class NotAvailableError(RuntimeError):
    """A data set is neither shipped nor obtainable; the message says why and what to do."""


def sha256(data):
    """SHA-256 of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def read_files(entry):
    """Read all files of a data set.

    Parameters
    ----------
    entry : lib.datasets.catalogue.Entry

    Returns
    -------
    contents : list of bytes
        One for each file.
    source : str
        shipped, mirror, cache (also of a file that was just downloaded) or "cache and mirror".

    Raises
    ------
    ValueError
        If a shipped file is not what the manifest says, or the manifest is unsafe (see `check`).
    NotAvailableError
        If a file is neither here nor at its address.
    """
    check(entry)
    if entry.kind == "shipped":
        return [read_shipped(entry)], "shipped"
    contents = []
    sources = set()
    for file in entry.files:
        # whoever has a copy needs no network
        data, source = read_copy(entry, file) or (download(entry, file), "cache")
        contents.append(data)
        sources.add(source)
    return contents, " and ".join(sorted(sources))


def check(entry):
    """Check that the manifest is safe to follow.

    Raises
    ------
    ValueError
        Unless the set has plain file names, a sha256 for each and, to fetch it, an https address.
    """
    if len(entry.sha256) != len(entry.files):
        raise ValueError(
            f"{entry.name}: sha256 must be given for each of {len(entry.files)} files; "
            f"got {entry.sha256}"
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
    parsed = urlsplit(address)
    return parsed.scheme == "https" and bool(parsed.hostname)


def read_shipped(entry):
    """Contents of the file in data/, decompressed; ValueError says what is wrong with it."""
    path = DATA / entry.files[0]
    remedy = restore_words(f"data/{path.name}")
    if not path.is_file():
        raise ValueError(f"{entry.name}: data/{path.name} is not there; {remedy}")
    raw = path.read_bytes()
    if sha256(raw) != entry.sha256[0]:
        raise ValueError(
            f"{entry.name}: data/{path.name} is damaged, as its sha256 is {sha256(raw)}; {remedy}"
        )
    return unpack(io.BytesIO(raw), path.name)


def unpack(file, name):
    """Read an open binary file, and decompress it if its name ends in .gz.

    Raises
    ------
    ValueError
        If it is no complete gzip file, or has more than `LARGEST` bytes when unpacked.
    """
    reader = gzip.GzipFile(fileobj=file) if name.endswith(".gz") else file
    try:
        data = reader.read(LARGEST + 1)  # no more, as a small file may unpack to a huge one
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError(f"{name} is not a complete gzip file") from None
    if len(data) > LARGEST:
        raise ValueError(f"{name} has more than {LARGEST:,} bytes, unpacked")
    return data


def read_file(path):
    """Read a file of a mirror or a cache, decompressed if its name ends in .gz; see `unpack`."""
    with open(path, "rb") as file:
        return unpack(file, path.name)


def read_copy(entry, file):
    """Contents and source of a file of a set that is in the mirror or in the cache, or None.

    Raises
    ------
    NotAvailableError
        If `UCI_MIRROR` names no folder, or one in which the file has another sha256.
    """
    mirror = os.environ.get("UCI_MIRROR")
    if mirror and not Path(mirror).is_dir():
        raise _not_available(
            entry, file, f"UCI_MIRROR names a folder that does not exist: {mirror!r}"
        )
    if mirror:
        for path in (Path(mirror) / file, Path(mirror) / f"{file}.gz"):
            if path.is_file():
                return _read_mirror_copy(entry, file, path), "mirror"
    path = download_folder() / file
    # a damaged file of the cache counts as absent: it is downloaded again
    if path.is_file():
        data = path.read_bytes()
        if sha256(data) == expected_sha256(entry, file):
            return data, "cache"
    return None


def _read_mirror_copy(entry, file, path):
    try:
        data = read_file(path)
    except (OSError, ValueError) as error:
        cause = f"the copy in UCI_MIRROR cannot be read ({error})"
        raise _not_available(entry, file, cause) from None
    if sha256(data) != expected_sha256(entry, file):
        cause = f"the copy in UCI_MIRROR has the sha256 {sha256(data)}, not that of the manifest"
        raise _not_available(entry, file, cause)
    return data


def read_mirrored(file):
    """Contents of one of the files `ONLY_MIRRORED`.

    Whether a mirror has it is part of the key of a chapter that calls this.

    Returns
    -------
    bytes or None
        None unless the folder `UCI_MIRROR` has the file, with the right sha256.
    """
    mirror = os.environ.get("UCI_MIRROR")
    if not mirror or not (Path(mirror) / file).is_file():
        return None
    contents = (Path(mirror) / file).read_bytes()
    return contents if sha256(contents) == ONLY_MIRRORED[file] else None


def download_folder():
    """Folder of the downloaded files."""
    return Path(os.environ.get("UCI_CACHE") or _import_pooch().os_cache("when-the-model-is-wrong"))


def _import_pooch():
    """The package that downloads, imported late, as most processes never need it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # in a notebook tqdm, which pooch imports, asks for widgets
        import pooch
    pooch.get_logger().setLevel("WARNING")  # what it says names folders of the user
    return pooch


def expected_sha256(entry, file):
    """SHA-256 of a file according to the manifest."""
    return entry.sha256[entry.files.index(file)]


class _LimitedFile(io.FileIO):
    """A file that refuses to grow beyond `LARGEST` bytes."""

    def write(self, data):
        if self.tell() + len(data) > LARGEST:
            raise OSError(f"it has more than {LARGEST:,} bytes")
        return super().write(data)


def _refuse_insecure(response, **_):
    """Stop at a redirection that leaves https, before anything is sent there."""
    target = urljoin(response.url, response.headers.get("location", ""))
    if not _is_secure(target):
        raise OSError(f"redirected to {target}, which is not https")


def fetch(address, folder, file, digest=None):
    """Download a file over https into a folder: it is written aside, checked, then moved there.

    Parameters
    ----------
    address : str
    folder : path
    file : str
        Its name in the folder.
    digest : str, optional
        Its sha256; without one any contents are taken.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If the sha256 is another.
    OSError
        If the download fails, leaves https or has more than `LARGEST` bytes, or the folder cannot
        be written. The errors of the package requests are of this kind, too.
    """
    pooch = _import_pooch()
    download_https = pooch.HTTPDownloader(timeout=TIMEOUT, hooks={"response": _refuse_insecure})

    def download_limited(url, output_file, pooch):
        with _LimitedFile(output_file, "w") as limited_file:
            download_https(url, limited_file, pooch)

    path = pooch.retrieve(
        address,
        known_hash=f"sha256:{digest}" if digest else None,
        fname=file,
        path=folder,
        downloader=download_limited,
    )
    return Path(path)


def download(entry, file):
    """Contents of a file of a set at UCI, which is now also in the cache."""
    check(entry)
    try:
        path = fetch(entry.address + file, download_folder(), file, expected_sha256(entry, file))
    except ValueError:
        cause = "the file there does not have the sha256 of the manifest"
        if file in entry.unconfirmed:
            cause += " (it was never confirmed to be that of UCI's very bytes)"
        raise _not_available(entry, file, cause) from None
    except OSError as error:
        raise _download_error(entry, file, error) from None
    return path.read_bytes()


def _download_error(entry, file, error):
    """The error of a failed download: the cache cannot be written, or the connection fails."""
    from requests import RequestException

    # the errors of requests are OSErrors, too; any other with a number is of the file system
    if error.errno and not isinstance(error, RequestException):
        folder = str(download_folder())
        return NotAvailableError(
            f"{entry.name}: {file} cannot be kept in {folder!r} ({_root(error)}); "
            "set the environment variable UCI_CACHE to a folder for it"
        )
    cause = f"the download failed ({_root(error)})"
    if os.environ.get("UCI_MIRROR"):
        cause = f"UCI_MIRROR does not have it and {cause}"
    return _not_available(entry, file, cause)


def _root(error):
    """The first of a chain of errors, which says most."""
    while error.__context__ is not None:
        error = error.__context__
    return f"{type(error).__name__}: {error}"


def _not_available(entry, file, cause):
    """The error that names the file, the cause and both remedies."""
    address = entry.address + file
    return NotAvailableError(
        f"{entry.name}: no {file} from {address}: {cause}. "
        "Either try again with a connection to that address, "
        "or put a good copy of the file into a folder "
        "and set the environment variable UCI_MIRROR to it."
    )


def download_status(entry):
    """Whether a set can be loaded without the network.

    Returns
    -------
    status : {"shipped", "mirrored", "cached", "not available"}
    reason : str
    """
    if entry.kind == "excluded":
        return "not available", entry.changes
    if entry.kind == "synthetic":
        return "shipped", "a definition in lib.datasets.synthetic"
    if entry.kind == "packaged":
        return "shipped", "comes with scikit-learn"
    try:
        check(entry)
        if entry.kind == "shipped":
            read_shipped(entry)
            return "shipped", f"data/{entry.files[0]}"
        copies = {file: read_copy(entry, file) for file in entry.files}
    except (NotAvailableError, ValueError) as error:
        return "not available", str(error)
    absent = [file for file, copy in copies.items() if copy is None]
    if absent:
        reason = f"load({entry.name!r}) fetches {', '.join(absent)} from {entry.address}"
        if entry.unconfirmed:
            reason += f" (bytes there not confirmed: {', '.join(entry.unconfirmed)})"
        return "not available", f"not downloaded yet: {reason}"
    if any(source == "mirror" for _, source in copies.values()):
        return "mirrored", "in UCI_MIRROR"
    return "cached", "downloaded before"
