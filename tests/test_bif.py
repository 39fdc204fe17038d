"""Networks with names and their files, in every dialect, against tables written out here."""

import gzip
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.base.files import DATA
from lib.bayes_net.bif import DiscreteNetwork

ALARM = DATA / "alarm.bif.gz"
TEXT = """network wet { }
variable RAIN { type discrete [ 2 ] { yes, no }; }
variable SPRINKLER { type discrete [ 2 ] { on, off }; }
variable GRASS { type discrete [ 3 ] { dry, damp, wet }; }
probability ( GRASS | SPRINKLER, RAIN ) {
  (on, yes) 0.0, 0.1, 0.9; (off, yes) 0.1, 0.2, 0.7;
  (on, no) 0.2, 0.3, 0.5; (off, no) 0.9, 0.1, 0.0;
}
probability ( RAIN ) { table 0.3, 0.7; }
probability ( SPRINKLER | RAIN ) { (yes) 0.01, 0.99; (no) 0.4, 0.6; }
"""
# The same as JavaBayes writes it: the child's state slowest, blanks, quotes and comments.
JAVABAYES = """// Bayesian Network in the Interchange Format
network "Wet-Grass" { //3 variables and 3 probability distributions
\tproperty "credal-set {constant}; // no comment" ;
}
variable  "RAIN" { //2 values
\ttype discrete[2] {  "yes"  "no" };
\tproperty "position = (73, 165)" ;
}
variable  "SPRINKLER" { //2 values
\ttype discrete[2] {  "on"  "off" };
}
variable  "GRASS" { //3 values
\ttype discrete[3] {  "dry"  "damp"  "wet" };
}
probability (  "GRASS"  "SPRINKLER"  "RAIN" ) { //3 variable(s) and 12 values
\ttable 0.0 0.2 0.1 0.9 1.0E-1 0.3 0.2 0.1 0.9 0.5 0.7 0.0 ;
}
probability (  "RAIN" ) { //1 variable(s) and 2 values
\ttable 0.3 0.7 ;
}
probability (  "SPRINKLER"  "RAIN" ) { //2 variable(s) and 4 values
\ttable 0.01 0.4 0.99 0.6 ;
}
"""
TWO = """variable a { type discrete [ 2 ] { yes, no }; }
variable b { type discrete [ 2 ] { yes, no }; }
probability ( a ) { table 0.5, 0.5; }
"""
# P(b | a), as it is written in many ways below
B_TABLE = [[0.9, 0.1], [0.3, 0.7]]


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes into a file, and returns its path."""

    def write(contents):
        if isinstance(contents, str):
            contents = contents.encode()
        path = tmp_path / "net.bif"
        path.write_bytes(contents)
        return path

    return write


def tables(path):
    """Tables by the names of the variables."""
    network = DiscreteNetwork.read_bif(path)
    return dict(zip(network.names, network.network.tables(network.theta), strict=True))


def assert_wet(network):
    assert network.names == ("RAIN", "SPRINKLER", "GRASS")
    assert network.values == (("yes", "no"), ("on", "off"), ("dry", "damp", "wet"))
    assert network.parents == ((), (0,), (0, 1))
    rain, sprinkler, grass = network.network.tables(network.theta)
    np.testing.assert_allclose(rain, [0.3, 0.7])
    np.testing.assert_allclose(sprinkler, [[0.01, 0.99], [0.4, 0.6]])
    # Rain first, though the file names the sprinkler first.
    np.testing.assert_allclose(grass[0], [[0, 0.1, 0.9], [0.1, 0.2, 0.7]], atol=1e-12)
    np.testing.assert_allclose(grass[1], [[0.2, 0.3, 0.5], [0.9, 0.1, 0]], atol=1e-12)


def test_read_bif(write):
    network = DiscreteNetwork.read_bif(write(TEXT))
    assert_wet(network)
    # P(rain) P(sprinkler off | rain) P(wet | rain, off)
    log_probability = network.log_probability(np.array([[0, 1, 2]]))[0]
    assert log_probability == pytest.approx(math.log(0.3 * 0.99 * 0.7))


@pytest.mark.parametrize(
    "contents",
    [
        JAVABAYES.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        JAVABAYES.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        ("// Gr\xfc\xdfe\n" + TEXT).encode("latin-1"),
        gzip.compress(JAVABAYES.encode()),
        TEXT.replace("probability ( ", "probability(")
        .replace(" ) {", "){")
        .replace("\n", " ")
        .encode(),
        TEXT.replace(",", " ").replace("yes no", "yes | no").encode(),
        TEXT.replace(
            "\nvariable", "\nEach node has states;\nwritten by hand {as here}. variable"
        ).encode(),
        TEXT.replace("};", '} ; property x = (1) {2}, "y; }" ; ')
        .replace("{ table", "{property(y) ;table")
        .encode(),
        TEXT.replace("0.1", "1e-1").replace("0.7", "7.0E-01").replace("0.3", ".3").encode(),
        "\n".join([*TEXT.splitlines()[4:], *TEXT.splitlines()[:4]]).encode(),
    ],
    ids=[
        "javabayes",
        "crlf",
        "cr",
        "bom",
        "latin",
        "gzip",
        "tight",
        "blanks",
        "text",
        "property",
        "exponent",
        "order",
    ],
)
def test_dialects(write, contents):
    assert_wet(DiscreteNetwork.read_bif(write(contents)))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("(yes) 0.9, 0.1; (no) 0.3, 0.7; // before: (no) 0.5, 0.5;\n", B_TABLE),
        ("(yes) 0.9, 0.1; /* (yes) 0.5, 0.5;\n (no) 0.5 0.5; **/ (no) 0.3,/**/0.7;", B_TABLE),
        ("table 0.9, 0.3, 0.1, 0.7;", B_TABLE),
        ("default 0.3, 0.7; (yes) 0.9, 0.1;", B_TABLE),
        ("(yes) 0.9 0.1; default 0.3 0.7", B_TABLE),
        ("default 0.3, 0.7;", [[0.3, 0.7], [0.3, 0.7]]),
        ("default 0.5, 0.5; table 0.9, 0.3, 0.1, 0.7;", B_TABLE),
        ("(no) 0.3, 0.7; table 0.9, 0.5, 0.1, 0.5;", B_TABLE),
        ("(yes) 0.9, 0.1; (no) 0.2997, 0.6993;", [[0.9, 0.1], [0.3, 0.7]]),
    ],
)
def test_entries(write, body, expected):
    path = write(TWO + f"probability ( b | a ) {{ {body}\n}}")
    np.testing.assert_allclose(tables(path)["b"], expected, rtol=1e-12)


def test_table_changes_last_parent_fastest(write):
    """Here c depends on b only; a table read parents first would make it depend on a only."""
    c = "variable c { type discrete [ 2 ] { yes, no }; } probability ( b ) { default 0.5 0.5; }"
    table = "probability ( c | a, b ) { table 0.2, 0.8, 0.2, 0.8, 0.8, 0.2, 0.8, 0.2; }"
    probability_of_yes = tables(write(TWO + c + table))["c"][:, :, 0]
    np.testing.assert_allclose(probability_of_yes, [[0.2, 0.8], [0.2, 0.8]])


@pytest.mark.parametrize(
    "state_list", ["(0,5], [5, 9)", "(0,5] [5, 9)", '"(0,5]" "[5, 9)"', " (0,5],[5, 9) ,"]
)
@pytest.mark.parametrize(
    "row", ["(0,5], very high", '"(0,5]", very high', '(0,5] "very high"', '(0,5] | "very high"']
)
def test_states_with_blanks_and_brackets(write, state_list, row):
    """As R's cut and bnlearn's discretize make them, for which bnlearn writes no quotes."""
    text = f"""variable age {{ type discrete [2] {{ {state_list} }}; }}
        variable my risk {{ type discrete [ 2 ] {{ very high, low }}; }}
        variable f(x) {{ type discrete [ 2 ] {{ , ):/ }}; }}
        probability ( age ) {{ table 0.5, 0.5; }} probability ( my risk ) {{ table 0.5, 0.5; }}
        probability ( f(x) | age, my risk ) {{ ({row}) 0.9, 0.1; default 0.3, 0.7; }}"""
    path = write(text)
    network = DiscreteNetwork.read_bif(path)
    assert network.names == ("age", "my risk", "f(x)")
    assert network.values == (("(0,5]", "[5, 9)"), ("very high", "low"), ("", "):/"))
    np.testing.assert_allclose(tables(path)["f(x)"][..., 0], [[0.9, 0.3], [0.3, 0.3]])


@pytest.mark.parametrize("size", [2, 3, 7, 63])
def test_rounded_rows_are_normalised(write, size):
    """Those of tables with three decimals or more, however far rounding may put their sums off."""
    states = ", ".join(f"s{i}" for i in range(size))
    for number in (round(1 / size, 4), 1 / size + 0.0005, 1 / size - 0.0005):
        row = ", ".join([repr(number)] * size)
        path = write(
            f"variable a {{ type discrete [{size}] {{ {states} }}; }} "
            f"probability ( a ) {{ table {row}; }}"
        )
        np.testing.assert_allclose(tables(path)["a"], 1 / size, rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.booleans(),
    st.booleans(),
    st.sampled_from([", ", " ", " | ", "\t,\n"]),
)
def test_round_trip(tmp_path_factory, seed, with_quotes, as_table, separator):
    """Every number comes back to the last bit, but for the division of rows by their sums."""
    rng = np.random.default_rng(seed)
    n = 4
    sizes = rng.integers(1, 4, n)
    parents = [rng.permutation(v)[: rng.integers(0, v + 1)].tolist() for v in range(n)]
    random_tables = []
    for v in range(n):
        shape = tuple(sizes[parents[v]])
        random_tables.append(rng.dirichlet(np.ones(sizes[v]), size=shape))

    def join(letter, numbers):
        """The names of some variables, v, or states, s."""
        quote = '"' if with_quotes else ""
        return separator.join(f"{quote}{letter}{number}{quote}" for number in numbers)

    def join_numbers(numbers):
        return separator.join(map(repr, numbers.tolist()))

    # Without quotes only a bar tells where the parents begin
    bar = " " if with_quotes and "|" not in separator else "|"
    lines = []
    for v, (family, table) in enumerate(zip(parents, random_tables, strict=True)):
        name = join("v", [v])
        states = join("s", range(sizes[v]))
        lines.append(f"variable {name} {{ type discrete [ {sizes[v]} ] {{ {states} }}; }}")
        lines.append(f"probability ( {name} {bar} {join('v', family)} ) {{")
        if as_table:
            lines.append(f"table {join_numbers(np.moveaxis(table, -1, 0).ravel())};")
        else:
            for row in rng.permutation(list(np.ndindex(*sizes[family]))).tolist():
                lines.append(f"({join('s', row)}) {join_numbers(table[tuple(row)])};")
        lines.append("}")
    path = tmp_path_factory.mktemp("trip") / "net.bif"
    path.write_text("\n".join(lines))
    # lib has the parents of a variable in the order of their numbers
    expected_tables = []
    for family, table in zip(parents, random_tables, strict=True):
        expected_tables.append(np.transpose(table, [*np.argsort(family), len(family)]))
    expected = DiscreteNetwork(parents, expected_tables)
    network = DiscreteNetwork.read_bif(path)
    assert network.parents == expected.parents
    np.testing.assert_array_equal(network.theta, expected.theta)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(no) 0.4, 0.6; }", "(no) 0.4,", "ends before the block 'probability"),
        (
            "RAIN ) { table 0.3, 0.7; }",
            "RAIN ) { table 0.3, 0.7;",
            r"ends before the block 'probability \( RAIN \)'",
        ),
        ("(no) 0.4, 0.6; }", "} (no) 0.4, 0.6; }", "closing brace outside of a block"),
        ("0.4, 0.6; }", "0.4, 0.6; } /* no end", "comment that begins with /\\* has no end"),
        ("network wet { }", "network wet { } network dry { }", "one network"),
        ("variable GRASS", "variable RAIN", "variable RAIN is declared twice"),
        ("probability ( RAIN ) { table 0.3, 0.7; }", "", "no probability of RAIN"),
        ("probability ( RAIN )", "probability ( GRASS )", "GRASS has two probability blocks"),
        (
            "{ dry, damp, wet }",
            "{ dry, damp }",
            "GRASS must have 3 states, at least 1; got 'dry, damp'",
        ),
        ("{ dry, damp, wet }", "{ dry, wet, wet }", "GRASS must have different states"),
        (
            "type discrete [ 3 ]",
            "type continuous [ 3 ]",
            "GRASS must have one statement type discrete",
        ),
        (
            "SPRINKLER | RAIN ) { (yes)",
            "SPRINKLER | RAIN ) { (maybe)",
            r"SPRINKLER: row \(maybe\) .* parent: RAIN",
        ),
        (
            "(on, no)",
            "(on)",
            r"GRASS: row \(on\) must have a state of each parent: SPRINKLER, RAIN",
        ),
        (
            "SPRINKLER | RAIN",
            "SPRINKLER | RAINS",
            "declared variables; got 'RAINS'; did you mean 'RAIN'?",
        ),
        (
            "SPRINKLER | RAIN",
            "SPRINKLER, GRASS | RAIN",
            "declared variables; got 'SPRINKLER, GRASS'",
        ),
        ("GRASS | SPRINKLER, RAIN", "GRASS | RAIN, RAIN", "different variables"),
        (
            "(on, no) 0.2, 0.3, 0.5;",
            "",
            r"GRASS: there must be a row .*; row \(on, no\) is missing",
        ),
        ("(off, yes) 0.1", "(on, yes) 0.1", r"GRASS: row \(on, yes\) is given twice"),
        ("table 0.3, 0.7;", "table 0.3, 0.7; table 0.4, 0.6;", "RAIN: table is given twice"),
        (
            "table 0.3, 0.7;",
            "tables 0.3, 0.7;",
            "RAIN: a statement must be .*got 'tables 0.3, 0.7'",
        ),
        ("0.2, 0.3, 0.5", "0.2, 0.8", r"GRASS: row \(on, no\) must have 3 numbers; got 2"),
        ("table 0.3, 0.7", "table 0.3, 0.4, 0.3", "RAIN: table must have 2 numbers; got 3"),
        ("0.2, 0.3, 0.5", "0.2, 0.3, 0.6", r"GRASS: row \(on, no\) must .*; got a sum of 1.1"),
        ("0.2, 0.3, 0.5", "0.2, 0.3, 0.498", r"GRASS: row \(on, no\) must .*; got a sum of 0.998"),
        (
            "0.2, 0.3, 0.5",
            "-0.2, 0.7, 0.5",
            r"row \(on, no\) must have numbers from 0 to 1; got -0.2",
        ),
        (
            "0.2, 0.3, 0.5",
            "nan, 0.5, 0.5",
            r"row \(on, no\) must have numbers from 0 to 1; got nan",
        ),
        (
            "0.2, 0.3, 0.5",
            "1.0005, 0, 0",
            r"row \(on, no\) must have numbers from 0 to 1; got 1.0005",
        ),
        ("0.2, 0.3, 0.5", "0.2, O.3, 0.5", r"row \(on, no\) must have numbers: .*'O.3'"),
        (
            "( RAIN ) { table 0.3, 0.7; }",
            "( RAIN | GRASS ) { default 1, 0; }",
            "cycle; got .*RAIN -> .*GRASS",
        ),
    ],
)
def test_broken_files(write, old, new, words):
    assert old in TEXT
    with pytest.raises(ValueError, match=f"net.bif: .*{words}"):
        DiscreteNetwork.read_bif(write(TEXT.replace(old, new, 1)))


def test_too_many_cells(write):
    """Before there is memory for them."""
    names = [f"v{i}" for i in range(40)]
    blocks = [f"variable {name} {{ type discrete [2] {{ a b }}; }}" for name in names]
    blocks += [f"probability ( {name} ) {{ default .5 .5; }}" for name in names[1:]]
    blocks.append(f"probability ( {' '.join(names)} ) {{ default .5 .5; }}")
    with pytest.raises(ValueError, match="at most 20,000,000 entries; .* are of v0"):
        DiscreteNetwork.read_bif(write("\n".join(blocks)))


def test_file_cut_off(tmp_path, write):
    contents = ALARM.read_bytes()
    truncated_file = contents[:900]
    altered_file = contents[:900] + b"?" + contents[901:]
    for contents_of_file in (truncated_file, altered_file):
        with pytest.raises(ValueError, match="net.bif: gzip cannot decompress"):
            DiscreteNetwork.read_bif(write(contents_of_file))
    truncated_text = gzip.decompress(contents)[:-200]
    with pytest.raises(ValueError, match="ends before|no probability"):
        DiscreteNetwork.read_bif(write(truncated_text))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tables": [[math.nan, 1.0]]}, "table of 0 must have .* that sum to 1; got nan"),
        (
            {"parents": [(), (0,)], "tables": [[0.5, 0.5], [[1, 0], [0.5, 0.4]]]},
            r"row \(1,\) of the table of 1 must have .* that sum to 1; got a sum of 0.9",
        ),
        ({"names": ["a", "b"]}, "names must be 1 different names"),
        ({"values": [["yes"]]}, "values must be as many as the tables have"),
    ],
)
def test_bad_networks(arguments, words):
    valid = {"parents": [()], "tables": [[0.5, 0.5]]}
    with pytest.raises(ValueError, match=words):
        DiscreteNetwork(**valid | arguments)


@pytest.mark.parametrize("smoothing", [-0.5, math.nan])
def test_smoothing_is_checked(smoothing):
    with pytest.raises(ValueError, match="smoothing must be a finite number"):
        DiscreteNetwork([()], [[0.5, 0.5]]).fitted([()], np.zeros((3, 1), dtype=int), smoothing)
