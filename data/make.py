"""Make the files of this folder from scikit-learn and Debian's package r-cran-mlbench, and renew manifest.csv.

    python data/make.py [--compare FOLDER]

FOLDER holds UCI's own files (named as UCI names them, or with .gz added); every cell is then
compared with them.
"""

import argparse
import csv
import gzip
import io
import subprocess
import tempfile
from pathlib import Path

from sklearn.datasets import load_iris

from lib.datasets import files, load, synthetic
from lib.datasets.catalogue import DATA, catalogue

MLBENCH = "2.1.3"
EXPORT = """
installed <- packageVersion("mlbench")
if (installed != "{version}") stop("r-cran-mlbench {version} is wanted, not ", format(installed))
for (name in c({names})) {{
  data(list = name, package = "mlbench")
  write.csv(get(name), file.path("{folder}", paste0(name, ".csv")), row.names = FALSE, na = "?", quote = FALSE)
}}
"""

# name: mlbench's name, whether the class comes first there, mlbench's class names where UCI has
# codes
SOURCES = {
    "breast": ("BreastCancer", False, {"benign": "2", "malignant": "4"}),
    "glass": ("Glass", False, {}),
    "vote": ("HouseVotes84", True, {}),
    "soybean-large": ("Soybean", True, {}),
    "pima": ("PimaIndiansDiabetes", False, {"neg": "0", "pos": "1"}),
    "vehicle": ("Vehicle", False, {}),
    "letter": ("LetterRecognition", True, {}),
    "satimage": (
        "Satellite",
        False,
        {
            "red soil": "1",
            "cotton crop": "2",
            "grey soil": "3",
            "damp grey soil": "4",
            "vegetation stubble": "5",
        }
        | {"very damp grey soil": "7"},
    ),
    "shuttle": (
        "Shuttle",
        False,
        {
            "Rad.Flow": "1",
            "Fpv.Close": "2",
            "Fpv.Open": "3",
            "High": "4",
            "Bypass": "5",
            "Bpv.Close": "6",
        }
        | {"Bpv.Open": "7"},
    ),
    "sonar": ("Sonar", False, {}),
    "ionosphere": ("Ionosphere", False, {"good": "g", "bad": "b"}),
    "dna": ("DNA", False, {}),
    "zoo": (
        "Zoo",
        False,
        {"mammal": "1", "bird": "2", "reptile": "3", "fish": "4", "amphibian": "5", "insect": "6"}
        | {"mollusc.et.al": "7"},
    ),
}
BITS = {"TRUE": "1", "FALSE": "0"}  # R's words in zoo
# iris (row, column): UCI's values; scikit-learn has Fisher's
PATCH = {(35, 3): "0.1", (38, 1): "3.1", (38, 2): "1.5"}

# soybean (small): classes D1 to D4 and, in its order, the rows of soybean (large), .data before
# .test, counted from 1
SMALL_CLASSES = [
    "diaporthe-stem-canker",
    "charcoal-rot",
    "rhizoctonia-root-rot",
    "phytophthora-rot",
]
SMALL_ROWS = """
8 314 309 1 310 7 315 3 9 308 17 318 319 14 323 12 13 322 11 16 336 333 334 24 330 335 337 328 23 25
340 37 45 49 339 51 43 63 38 69 31 56 66 341 338 44 50
"""

# name: UCI's files, separator, whether the class comes first, number of leading columns left out
UCI = {
    "iris": ("iris.data", ",", False, 0),
    "breast": ("breast-cancer-wisconsin.data", ",", False, 1),
    "glass": ("glass.data", ",", False, 1),
    "vote": ("house-votes-84.data", ",", True, 0),
    "soybean-small": ("soybean-small.data", ",", False, 0),
    "soybean-large": ("soybean-large.data soybean-large.test", ",", True, 0),
    "pima": ("pima-indians-diabetes.data", ",", False, 0),
    "vehicle": (
        "xaa.dat xab.dat xac.dat xad.dat xae.dat xaf.dat xag.dat xah.dat xai.dat",
        None,
        False,
        0,
    ),
    "letter": ("letter-recognition.data", ",", True, 0),
    "satimage": ("sat.trn sat.tst", None, False, 0),
    "shuttle": ("shuttle.trn shuttle.tst", None, False, 0),
    "corral": ("corral.test", ",", False, 0),
    "mofn-3-7-10": ("mofn-3-7-10.test", ",", False, 0),
    "monks-1": ("monks-1.test", None, True, 0),
}


def mlbench():
    """Rows of each set of SOURCES: the attributes, then the class in UCI's words."""
    names = ", ".join(f'"{source}"' for source, _, _ in SOURCES.values())
    with tempfile.TemporaryDirectory() as folder:
        script = EXPORT.format(version=MLBENCH, names=names, folder=folder)
        subprocess.run(["Rscript", "-e", script], check=True)
        return {name: _rows(Path(folder), *SOURCES[name], name) for name in SOURCES}


def _rows(folder, source, class_first, codes, name):
    with open(folder / f"{source}.csv", newline="", encoding="utf-8") as file:
        rows = [_class_last(row, class_first) for row in csv.reader(file)][1:]
    n_columns = len(catalogue()[name].columns)  # breast has an identifier before them
    rows = [
        [*(BITS.get(value, value) for value in row[:-1]), codes.get(row[-1], row[-1])]
        for row in rows
    ]
    return [row[-n_columns:] for row in rows]


def _class_last(row, class_first):
    return row[1:] + row[:1] if class_first else row


def iris():
    """Scikit-learn's iris with UCI's values in rows 35 and 38."""
    bunch = load_iris()
    rows = [
        [*map(str, x), f"Iris-{bunch.target_names[y]}"]
        for x, y in zip(bunch.data, bunch.target, strict=True)
    ]
    for (row, column), value in PATCH.items():
        rows[row - 1][column] = value
    return rows


def soybean_small(large):
    """Rows of soybean (large); those with phytophthora rot have roots = 1."""
    rows = []
    for number in map(int, SMALL_ROWS.split()):
        *attributes, name = large[number - 1]
        code = f"D{SMALL_CLASSES.index(name) + 1}"
        rows.append([*attributes[:-1], "1" if code == "D4" else attributes[-1], code])
    return rows


def write(name, rows):
    """Write the CSV file of a set, compressed if the manifest names it .gz; the bytes depend on the rows alone."""
    entry, text = catalogue()[name], io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column for column, _ in entry.columns])
    writer.writerows(rows)
    raw = text.getvalue().encode()
    packed = entry.files[0].endswith(".gz")
    (DATA / entry.files[0]).write_bytes(gzip.compress(raw, 9, mtime=0) if packed else raw)


def renew_manifest(tables):
    """Put counts and sha256 of the tables into manifest.csv; its other columns are written by hand."""
    path = DATA / "manifest.csv"
    with open(path, newline="", encoding="utf-8") as file:
        manifest = list(csv.DictReader(file))
    for row in manifest:
        if row["name"] in tables:
            row |= _counts(tables[row["name"]])
            row["sha256"] = files.sha256((DATA / row["files"]).read_bytes())
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, manifest[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(manifest)


def _counts(rows):
    missing = sum(value == "?" for row in rows for value in row)
    classes = len({row[-1] for row in rows})
    return {
        "rows": len(rows),
        "attributes": len(rows[0]) - 1,
        "classes": classes,
        "missing": missing,
    }


def compare(name, rows, folder):
    """Compare all cells with UCI's files: row by row, or as multisets of rows for the synthetic sets."""
    uci_files, separator, class_first, left_out = UCI[name]
    lines = [
        line
        for file in uci_files.split()
        for line in _text(Path(folder) / file).splitlines()
        if line.strip()
    ]
    used = slice(left_out, left_out + len(rows[0]))  # monks-1 has an identifier behind them
    fields = [_class_last(line.strip().split(separator)[used], class_first) for line in lines]
    ours, theirs = ([tuple(map(_value, row)) for row in table] for table in (rows, fields))
    if name in synthetic.COMPLETE:
        ours, theirs = sorted(ours), sorted(theirs)
    differing = sum(
        a != b for x, y in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True)
    )
    print(
        f"{name}: {len(ours)} rows, {len(ours) * len(ours[0])} cells compared, {differing} differ"
    )


def _text(path):
    if path.exists():
        return path.read_text(encoding="utf-8")
    return gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes()).decode()


def _value(text):
    """Numbers are compared as numbers: 0.10 is 0.1."""
    try:
        return float(text)
    except ValueError:
        return text.strip()


def main():
    """Make all files; compare them where asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compare", metavar="FOLDER")
    folder = parser.parse_args().compare
    tables = {"iris": iris(), **mlbench()}
    tables["soybean-small"] = soybean_small(tables["soybean-large"])
    for name, rows in tables.items():
        write(name, rows)
    renew_manifest(tables)
    for name in UCI if folder else ():
        compare(name, tables[name] if name in tables else _table(load(name)), folder)


def _table(dataset):
    return (
        dataset.X.assign(target=dataset.y)
        .astype(object)
        .replace({True: "1", False: "0"})
        .to_numpy(str)
        .tolist()
    )


if __name__ == "__main__":
    main()
