"""Somebody's own table: what its columns become, what is said of it, what is refused."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from lib.base.files import LIB
from lib.datasets import own_table
from lib.trials.source_key import describe

N = 60
# Two classes, in an order that no made column follows
CLASSES = np.random.default_rng(0).choice(["no", "yes"], N)
NUMBERS = np.random.default_rng(1).normal(size=N).round(2)
SOILS = np.random.default_rng(2).choice(["clay", "loam", "sand"], N)


@pytest.fixture
def read(tmp_path):
    """Return a function that writes columns as a CSV file and reads it with the target "churn"."""

    def read_columns(target="churn", **columns):
        frame = pd.DataFrame({"churn": CLASSES, "dose": NUMBERS, "soil": SOILS} | columns)
        frame.to_csv(tmp_path / "own.csv", index=False)
        return own_table.read(tmp_path / "own.csv", target)

    return read_columns


def said(data, column):
    """Return what is found of a column, and what is done, in one text."""
    of_column = data.remarks["column"].str.split(", ").map(lambda names: column in names)
    return " ".join(data.remarks.loc[of_column, ["found", "done"]].to_numpy().ravel())


def test_an_ordinary_table_gives_numbers_categories_and_no_remark(read):
    data = read(soil=[np.nan, *SOILS[1:]], wet=[True, False, False] * (N // 3))
    assert (data.name, data.n_rows) == ("own", N)
    assert data.y.tolist() == CLASSES.tolist()
    assert data.X["dose"].tolist() == NUMBERS.tolist()
    assert data.X["soil"].isna().tolist() == [True] + [False] * (N - 1)
    assert data.X["soil"].cat.categories.tolist() == ["clay", "loam", "sand"]
    assert data.X["wet"].cat.categories.tolist() == ["False", "True"]
    assert data.remarks["found"].tolist() == [
        "Values are missing in 1 of 3 columns, most often in soil (1.7%)."
    ]
    assert read().remarks.empty


LINES = [("dose", "ä", "y"), *[("1,5", "é, b", "a"), ("?", "N/A", "b"), ("-2,25", "ö", "a")] * 20]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
@pytest.mark.parametrize("separator", [";", "\t"])
def test_separators_encodings_and_decimal_commas(tmp_path, encoding, separator):
    text = "\r\n".join(separator.join(line) for line in LINES) + "\r\n\r\n"
    (tmp_path / "own.txt").write_bytes(text.encode(encoding))
    data = own_table.read(str(tmp_path / "own.txt"), "y")
    assert data.X.columns.tolist() == ["dose", "ä"]
    assert data.X["dose"][:3].fillna(0).tolist() == [1.5, 0, -2.25]
    assert data.X["ä"][:3].astype(object).where(data.X["ä"].notna(), "").tolist() == [
        "é, b",
        "",
        "ö",
    ]
    assert "decimal commas" in said(data, "")


def test_a_parquet_file_says_what_its_csv_file_says(read, tmp_path, monkeypatch):
    csv_data = read(day=pd.date_range("2024-01-01", periods=N)[::-1], dose=[np.nan, *NUMBERS[1:]])
    frame = pd.read_csv(tmp_path / "own.csv", parse_dates=["day"])
    frame.to_parquet(tmp_path / "own.parquet")
    data = own_table.read(tmp_path / "own.parquet", "churn")
    pd.testing.assert_frame_equal(data.X, csv_data.X)
    pd.testing.assert_frame_equal(data.remarks, csv_data.remarks)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"pip install pyarrow.*or save the table as CSV"):
        own_table.read(tmp_path / "own.parquet", "churn")


WRITTEN = ["n.b.", "1,234", *[str(number) for number in range(N - 2)]]
KEPT = {
    "written": (WRITTEN, "Values that are no numbers: 1 of 60, 'n.b.'."),
    "thousands": (WRITTEN, "Numbers that are written like '1,234': 1."),
    "zip": (["02134", "10001", "94110"] * (N // 3), "leading zeros"),
    "grade": ([1, 2, 3] * (N // 3), "may be codes"),
    "half": ([*"ab"] * 10 + [5, 6] * (N // 2 - 10), "Most of its values are numbers"),
    "case": (["A", "a ", "b"] * (N // 3), "differ only in capitals"),
    "same": (["x" + soil for soil in SOILS], "It says the same as soil"),
    "copy": (NUMBERS, "It says the same as dose"),
    "leak": (np.where(CLASSES == "yes", "left", "stayed"), "predicts the class without error"),
    "refund": (np.where(CLASSES == "yes", NUMBERS, np.nan), "predicts the class without error"),
    "shuffled": (np.random.default_rng(3).permutation(N), "whole numbers all differ"),
    "customerID": ([*range(N // 2)] * 2, "values that repeat"),
    "day": (["31.12.2023", "1.1.2024", "2.1.2024"] * (N // 3), "dates: day.month.year."),
    "us": (["12/31/2023", "1/1/2024", "1/2/2024"] * (N // 3), "dates: month/day/year."),
    "sparse": ([1.5, 2.5] + [np.nan] * (N - 2), "97% of its values are missing"),
}


@pytest.mark.parametrize("name", KEPT)
def test_an_odd_column_is_kept_with_a_remark(read, name):
    values, words = KEPT[name]
    data = read(**{name: values})
    assert words in said(data, name)
    assert name in data.X


DROPPED = {
    "empty": ([np.nan] * N, "empty"),
    "constant": (["x"] * N, "'x' in all rows"),
    "flag": (["x"] * 5 + [np.nan] * (N - 5), "'x' or empty (55 rows)"),
    "running": (range(100, 100 + 2 * N, 2), "whole numbers all differ"),
    "customerID": (np.random.default_rng(3).permutation(N), "whole numbers all differ"),
    "note": ([f"note {number}" for number in range(N)], "100% of its values occur once"),
}


@pytest.mark.parametrize("name", DROPPED)
def test_a_column_of_no_use_is_left_out_with_a_remark(read, name):
    values, words = DROPPED[name]
    data = read(**{name: values})
    assert words in said(data, name)
    assert "Left out" in said(data, name)
    assert data.X.columns.tolist() == ["dose", "soil"]


def test_values_of_odd_columns(read):
    assert read(written=WRITTEN).X["written"][:3].fillna(-1).tolist() == [-1, 1234, 0]
    assert read(share=["12 %", "7.5%"] * (N // 2)).X["share"][:2].tolist() == [12, 7.5]
    assert read(zip=["02134", "10001"] * (N // 2)).X["zip"][0] == "02134"
    days = read(day=["31.12.2023", "2.1.2024", "1.1.2024"] * (N // 3)).X["day"]
    assert days[:3].tolist() == [0, 2, 1]


def test_a_random_column_is_no_leak_and_no_copy(read):
    other = np.random.default_rng(4).normal(size=N)
    assert read(other=other).remarks.empty


def test_the_same_is_said_once_of_all_columns(read):
    data = read(**{f"empty{number}": [np.nan] * N for number in range(9)})
    assert data.remarks["column"].tolist() == ["empty0, empty1, empty2, empty3, empty4, ..."]


def test_rows_without_a_class_or_with_a_rare_one_are_left_out(read):
    classes = CLASSES.astype(object)
    classes[[3, 7]] = np.nan
    classes[10:13] = "maybe"
    data = read(churn=classes)
    assert len(data.X) == len(data.y) == N - 5
    assert data.n_rows == N
    assert data.X.index.tolist() == list(range(N - 5))
    assert "Rows without a class: 2. Left out." in said(data, "churn")
    assert "fewer than 5 rows: 1, 'maybe'. Left out, 3 rows in all." in said(data, "churn")


def test_what_is_said_of_the_whole_table(read):
    few = {f"x{number}": np.random.default_rng(number).normal(size=N) for number in range(N)}
    assert "fewer rows (60) than columns (62)" in said(read(**few), "")
    assert "'no' is right in 90% of the rows" in said(read(churn=["no"] * 54 + ["yes"] * 6), "")
    dose, soil, churn = [*NUMBERS[:-1], NUMBERS[0]], [*SOILS[:-1], SOILS[0]], CLASSES.copy()
    churn[-1] = churn[0]
    assert "same as an earlier one: 1." in said(read(dose=dose, soil=soil, churn=churn), "")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"target": "chrun"}, r"target .*'chrun'; did you mean 'churn'"),
        ({"target": ""}, r"first line of own.csv names: 'churn', 'dose', 'soil'; got ''"),
        ({"target": "dose"}, r"'dose' holds \d+ different numbers.*pandas.cut"),
        ({"churn": ["no"] * N}, "1 different values, of which 1 occur.* two such classes"),
        ({"churn": [f"name {n}" for n in range(N)]}, "60 different values, of which 0 occur"),
        ({"churn": ["no", "yes"] * 15 + [np.nan] * 30}, "30 rows have a class.* at least 40"),
        ({"dose": 1, "soil": np.nan}, "no column from which 'churn' could be predicted"),
    ],
)
def test_a_target_that_cannot_be_learned_is_refused(read, columns, words):
    with pytest.raises(ValueError, match=words):
        read(**columns)


@pytest.mark.parametrize(
    ("name", "contents", "words"),
    [
        ("own.xlsx", b"", "suffix of table must be one of '.csv'"),
        ("absent.csv", None, "absent.csv' cannot be read: No such file"),
        ("own.csv", b"", "first line of own.csv names fewer than two columns"),
        ("own.csv", b"a|b\n1|2\n", "separate their names.* by commas, semicolons or tabs"),
        (
            "own.csv",
            b"a,b\n1,2\n1,2,3\n",
            "own.csv, line 3: 3 fields.* 2 columns; put .* in quotes",
        ),
        ("own.csv", b"a,b,a\n1,2,3\n", "own.csv has two columns 'a': rename one"),
        ("own.csv", "a,b\n1,2\n".encode("utf-16"), "no text file: save the table as CSV"),
        ("own.csv", b"a,b\n", "'a' has 0 different values"),
        ("own.parquet", b"a,b\n1,2\n", "own.parquet is no Parquet file"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path, name, contents, words):
    if contents is not None:
        (tmp_path / name).write_bytes(contents)
    with pytest.raises(ValueError, match=words):
        own_table.read(tmp_path / name, "a")


DIGEST = """
import sys
from lib.datasets import own_table
from lib.trials.source_key import describe
print(describe(own_table.read(sys.argv[1], "churn")).digest)
"""


def test_a_trial_that_is_given_the_table_has_a_key_of_its_contents(read, tmp_path):
    digest = describe(read()).digest
    command = [sys.executable, "-c", DIGEST, str(tmp_path / "own.csv")]
    process = subprocess.run(command, cwd=LIB.parent, capture_output=True, text=True)
    assert process.stdout == f"{digest}\n", process.stderr
    doses = NUMBERS.copy()
    doses[5] += 0.01
    changed = read(dose=doses)
    assert describe(changed).digest != digest
    assert describe((changed.X, changed.y)).digest != describe((read().X, read().y)).digest
