"""What chapters say: words follow from signs, margins and ends; numbers stand in the metadata."""

import math
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from lib import report
from lib.claims import Claims, Setting
from lib.evaluation import Estimate, mean_interval

NBSP = "\N{NO-BREAK SPACE}"
numbers = st.floats(-50, 50)


@pytest.fixture(scope="module", autouse=True)
def shell():
    """Displays are captured in a notebook's shell only."""
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def displayed(action, *arguments, **options):
    """The outputs that a call displays: their data and metadata."""
    with capture_output() as captured:
        action(*arguments, **options)
    return captured.outputs


def words_of(output):
    return output.data["text/markdown"].replace(NBSP, " ")


@pytest.mark.parametrize(
    ("estimate", "options", "words"),
    [
        ((0.193, 0.102, 0.274, 80), {}, "EM beats Winnow by 0.19 [0.10, 0.27]"),
        ((-0.43, -0.54, -0.32, 80), {}, "Winnow beats EM by 0.43 [0.32, 0.54]"),
        (
            (-0.43, -0.54, -0.32, 80),
            {"lower_is_better": True},
            "EM beats Winnow by 0.43 [0.32, 0.54]",
        ),
        (
            (0.04, 0.02, 0.06),
            {"margin": 0.05},
            "EM is slightly ahead of Winnow by 0.040 [0.020, 0.060]",
        ),
        ((-0.43, -0.54, -0.32), {"winner_first": False}, "EM loses to Winnow by 0.43 [0.32, 0.54]"),
        (
            (-0.123, -0.195, -0.051, 9),
            {"factor": 100, "unit": "points of error"},
            "Winnow beats EM by 12 points of error [5, 20]",
        ),
        (
            (0.19, 0.1, 0.27, 80),
            {"unit": "of the possible gain"},
            "EM beats Winnow by 0.19 [0.10, 0.27] of the possible gain",
        ),
        ((1, 1, 1, 5), {"unit": "points of error"}, "EM beats Winnow by 1.0 points of error"),
        (
            (-0.01, -0.03, 0.01, 80),
            {"margin": 0.05},
            "EM is about as good as Winnow (Winnow ahead by 0.010 [−0.010, 0.030])",
        ),
        ((0, 0, 0, 5), {"margin": 0.05}, "EM is about as good as Winnow (no difference)"),
        (
            (0.1, -0.2, 0.4, 9),
            {"margin": 0.05},
            "EM leads Winnow by 0.1, which may be chance [−0.2, 0.4]",
        ),
        (
            (-0.1, -0.4, 0.2, 9),
            {"beats": "beat", "unit": "of the gain"},
            "Winnow lead EM by 0.1 of the gain, which may be chance [−0.2, 0.4]",
        ),
        (
            (0.04, -0.01, 0.08, 9, -0.12, 0.2),
            {"factor": 100, "unit": "points", "beats": "exceeds"},
            "EM exceeds Winnow by 4 points, which may be chance [−1, 8], on sets like these [−12, 20]",
        ),
        (
            (1.9, 0.3, 3.5, 17),
            {"margin": 1, "unit": "points"},
            "EM leads Winnow by 1.9 points, just beyond chance [0.3, 3.5]",
        ),
        (
            (-0.04, -0.07, -0.01, 80),
            {"margin": 0.05, "winner_first": False},
            "Winnow leads EM by 0.04, just beyond chance [0.01, 0.07]",
        ),
        (
            (0.0, -0.04, 0.045, 320),
            {"margin": 0.05},
            "EM seems about as good as Winnow (no difference)",
        ),
        (
            (0.01, -0.04, 0.046, 320),
            {"margin": 0.05, "equals": "are about as fast as", "spec": ".2f"},
            "EM seem about as fast as Winnow (EM ahead by 0.01 [−0.04, 0.05])",
        ),
        (
            (0.034, -0.002, 0.07, 80),
            {"margin": 0.05, "spec": ".2f"},
            "EM leads Winnow by 0.034, which may be chance [−0.002, 0.070]",
        ),
        ((0, -1, 1, 9), {}, "EM and Winnow cannot be told apart (no difference)"),
        ((0.5, 0.2, math.inf, 9), {}, "EM beats Winnow by 0.50 [0.20, ∞]"),
        ((0.5, -math.inf, math.inf, 1), {}, "1 trial is too few to compare EM with Winnow"),
        ((0.5, math.nan, math.nan), {}, "there are too few trials to compare EM with Winnow"),
        ((math.nan, -math.inf, math.inf, 0), {}, "EM and Winnow were not compared"),
    ],
)
def test_comparison_says_who_wins(estimate, options, words):
    assert report.comparison(estimate, "EM", "Winnow", **options).replace(NBSP, " ") == words


def test_a_finding_says_where_and_links_its_figure():
    words = report.finding(
        (0.193, 0.102, 0.274, 80), "EM", "Winnow", where="with 75 attributes", figure="fig-many"
    )
    assert words.replace(NBSP, " ") == (
        "with 75 attributes EM beats Winnow by 0.19 [0.10, 0.27] ([figure](#fig-many))"
    )
    assert words.numbers["value"] == 0.193


def test_of_what_a_run_lacks_nothing_is_said():
    assert report.comparison(None, "EM", "Winnow") is None
    assert report.finding(None, "EM", "Winnow", where="there") is None
    assert report.interval(None) is None


def test_a_setting_brings_its_margin_and_the_trials_it_needs():
    setting = Setting(
        id="em-ahead",
        words="",
        statistic="T of EM − T of Winnow",
        value=0.2,
        low=0.1,
        high=0.3,
        n=3,
        region=(0, math.inf),
        margin=0.05,
        min_trials=30,
        unit="random models",
    )
    words = report.comparison(setting, "EM", "Winnow")
    assert words == "3 random models are too few (30 needed) to compare EM with Winnow"


@given(
    st.tuples(numbers, numbers, numbers).map(sorted),
    st.floats(0.01, 20),
    st.integers(1, 60),
)
def test_a_sentence_says_what_the_verdict_says(ends, margin, n):
    """Of a claim that the first is better, for any interval."""
    low, value, high = ends
    if low == high:  # decides a claim only if it is exact
        high += 1
    setting = Setting(
        id="first-is-better",
        words="",
        statistic="first − second",
        value=value,
        low=low,
        high=high,
        n=n,
        region=(0, math.inf),
        margin=margin,
        min_trials=30,
    )
    outcomes = {
        "holds": "first",
        "fails": "second",
        "negligible": "alike",
        "undecided": "unclear",
        "too little data": "too few",
    }
    phrase = report.comparison(setting, "A", "B")
    assert phrase.numbers["outcome"] == outcomes[setting.verdict]


@given(st.tuples(numbers, numbers, numbers).map(sorted), st.floats(0, 20))
def test_who_is_named_first_changes_no_meaning(ends, margin):
    low, value, high = ends
    forwards = report.comparison((value, low, high, 9), "A", "B", margin=margin)
    backwards = report.comparison((-value, -high, -low, 9), "B", "A", margin=margin)
    if forwards.numbers["outcome"] in ("first", "second"):
        assert forwards == backwards
    is_decided = forwards.numbers["outcome"] in ("first", "second")
    is_sure = is_decided and "just beyond chance" not in forwards
    assert ("beats" in forwards or "is slightly ahead of" in forwards) == is_sure
    assert ("beats" in forwards) == (is_sure and abs(value) >= margin)


@pytest.mark.parametrize("n", [5, 80])
@pytest.mark.parametrize("nearest", [0.01, 0.1, 0.3, 0.5])
def test_a_text_is_as_sure_as_the_claim(n, nearest):
    setting = Setting(
        id="em-ahead",
        words="",
        statistic="T of EM − T of Winnow",
        value=1.0,
        low=nearest,
        high=2 - nearest,
        n=n,
        region=(0, math.inf),
        margin=0.05,
        unit="random models",
    )
    assert ("beats" in report.comparison(setting, "EM", "Winnow")) == (setting.rerun_chance >= 0.8)


@given(numbers, st.floats(1e-4, 50), st.floats(1e-4, 50))
def test_an_end_is_printed_on_its_side_of_zero(value, below, above):
    low, high = value - below, value + above
    words = report.interval((value, low, high)).replace(NBSP, " ")
    printed = [float(number.replace("−", "-")) for number in re.findall(r"[−\d.]+", words)]
    assert len(printed) == 3
    for end, number in zip((low, high), printed[1:], strict=True):
        if abs(end) > 1e-6:
            assert np.sign(number) == np.sign(end)


def test_rounding_is_no_width():
    assert report.interval((10.0, 10.0 - 1e-15, 10.0 + 1e-15), unit="points") == "10 points"


@pytest.mark.parametrize(
    ("items", "words"),
    [([2], "2"), (["EM", "COV"], "EM and COV"), ([2, 3, 5000], "2, 3 and 5,000")],
)
def test_a_listing_reads_as_a_sentence(items, words):
    assert report.listing(items) == words


@pytest.mark.parametrize(
    ("plural", "word"),
    [
        ("random models", "random model"),
        ("families of data sets", "family of data sets"),
        ("points of error", "point of error"),
        ("hidden classes", "hidden class"),
    ],
)
def test_one_is_singular(plural, word):
    assert report.singular(plural) == word


def test_an_interval_never_breaks():
    words = report.interval((-0.5, -0.61, -0.4), ".2f")
    assert words == f"−0.50{NBSP}[−0.61,{NBSP}−0.40]"


@pytest.mark.parametrize(
    ("value", "spec", "words"),
    [
        (-0.0001, ".2f", "0.00"),
        (-0.0001, "+.1%", "0.0%"),
        (-3, "", "−3"),
        (1234567, "", "1,234,567"),
        (np.int64(1000), "", "1,000"),
        (0.000123456, "", "0.000123"),
        (12345.6, "", "12,346"),
        (np.float64(0.2), ".1%", "20.0%"),
        (math.nan, ".2f", "—"),
        (-math.inf, ".2f", "−∞"),
        (None, "", "—"),
        (np.bool_(True), "", "yes"),
        ("EM", "", "EM"),
    ],
)
def test_numbers_in_words(value, spec, words):
    assert report.number_words(value, spec) == words


@pytest.mark.parametrize("margin", [-0.1, math.inf])
def test_a_margin_that_is_none_is_refused(margin):
    with pytest.raises(ValueError, match=f"margin must be at least 0 and finite; got {margin}"):
        report.comparison((1, 0, 2), "A", "B", margin=margin)


def test_text_shows_numbers_and_records_them():
    estimate = mean_interval([1.0, 2.0, 3.0])
    (output,) = displayed(
        report.text,
        """
        With {n} examples and $a_{{i}}$, {gain:cap}. The mean is {mean:.1f}, the share {share:.0%}.
        """,
        n=10_000,
        gain=report.comparison((2, 1, 3, 5), "ELR", "counting", unit="points"),
        mean=estimate,
        share=np.float64(0.123456789012),
    )
    assert words_of(output) == (
        "With 10,000 examples and $a_{i}$, ELR beats counting by 2.0 points [1.0, 3.0]. "
        "The mean is 2.0 [−0.5, 4.5], the share 12%."
    )
    assert output.metadata["numbers"] == {
        "n": 10_000,
        "gain": {"value": 2, "low": 1, "high": 3, "n": 5, "unit": "points", "outcome": "first"},
        "mean": {
            "value": 2,
            "low": pytest.approx(estimate.low),
            "high": pytest.approx(estimate.high),
            "n": 3,
        },
        "share": 0.123456789,
    }
    assert output.metadata["report"]["kind"] == "text"


def test_text_without_a_value_is_an_error():
    with pytest.raises(KeyError, match="best"):
        report.text("The best is {best}.")


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (
            (),
            "## Found\n\nOne 1. Two, as 2. Three 3.\n\n- Four 4.\n- Five.\n\n**Why?** Six 6. End.",
        ),
        ("b", "## Found\n\nOne 1. Three 3.\n\n- Four 4.\n- Five.\n\n**Why?** Six 6. End."),
        ("ad", "## Found\n\nTwo, as 2. Three 3.\n\n- Five.\n\n**Why?** Six 6. End."),
        ("abc", "## Found\n\n- Four 4.\n- Five.\n\n**Why?** Six 6. End."),
        ("e", "## Found\n\nOne 1. Two, as 2. Three 3.\n\n- Four 4.\n- Five.\n\nEnd."),
    ],
)
def test_a_sentence_without_its_value_is_left_out(missing, words):
    template = """
    ## Found

    One {a}. Two,
    as {b}. Three {c:.0f}.

    - Four {d}.
    - Five.

    **Why?** Six {e}. End.
    """
    values = dict(zip("abcde", (1, 2, 3, 4, 6), strict=True)) | dict.fromkeys(missing)
    (output,) = displayed(report.text, template, **values)
    assert words_of(output).replace("\nas", " as") == words
    assert set(output.metadata["numbers"]) == set("abcde") - set(missing)


def test_a_text_that_does_not_apply_displays_nothing():
    assert displayed(report.text, "Yes.", when=False) == []
    assert displayed(report.text, "With {a}.", a=None) == []


def claim_with(verdict_low):
    claims = Claims("groveroth1997")
    claim = claims.claim("copies-ruin-counting", "Copies ruin counting.", quote="...")
    claim.test(
        "copies-ruin-counting",
        estimate=Estimate(2.0, verdict_low, 3.0, 30),
        statistic="error of counting − error of ELR",
        region=(0, math.inf),
        margin=0.5,
    )
    return claim


TEMPLATE = """
## What we found

Copies ruin counting.

- By {x} points.
"""


@pytest.mark.parametrize("reference", [lambda claim: claim, lambda claim: "copies-ruin-counting"])
def test_a_statement_stands_where_its_claim_holds(reference):
    claim = claim_with(1.0)
    (output,) = displayed(report.text, TEMPLATE, asserts=reference(claim), x=2)
    assert words_of(output) == "## What we found\n\nCopies ruin counting.\n\n- By 2 points."
    assert output.metadata["report"]["asserts"] == {
        "claims": ["copies-ruin-counting"],
        "holds": True,
        "chance": round(claim.settings[0].rerun_chance, 3),
    }


def test_a_statement_gives_way_where_its_claim_does_not_hold():
    claim = claim_with(-1.0)
    (output,) = displayed(report.text, TEMPLATE, asserts=[claim], x=2)
    assert "\n\nThe claim “Copies ruin counting.” is undecided in this run.\n\n- By 2" in (
        words_of(output)
    )
    assert output.metadata["report"]["asserts"]["holds"] is False
    (output,) = displayed(
        report.text, TEMPLATE, asserts=claim.settings[0], otherwise="About {x}.", x=2
    )
    assert "\n\nAbout 2.\n\n- By 2" in words_of(output)


def test_a_claim_that_was_not_made_is_named():
    with pytest.raises(KeyError, match="no claim 'no-such-claim' has been made"):
        report.text("Yes.", asserts="no-such-claim")


def draw(kind):
    if kind == "grid":
        return sns.relplot(pd.DataFrame({"x": [1, 2], "y": [1, 2]}), x="x", y="y")
    figure, axes = plt.subplots(1, 2)
    return {"figure": figure, "axes": axes[1], "array": axes, "current": None}[kind]


@pytest.mark.parametrize("kind", ["figure", "axes", "array", "grid", "current"])
def test_a_figure_is_displayed_with_its_caption_and_closed(kind):
    plt.close("all")
    picture, caption = displayed(
        report.figure, draw(kind), "EM stops;\n Winnow goes on.", name=f"fig-{kind}", alt="Curves."
    )
    assert picture.metadata["report"] == {
        "kind": "figure",
        "name": f"fig-{kind}",
        "caption": "EM stops; Winnow goes on.",
        "alt": "Curves.",
    }
    assert re.fullmatch(
        rf'<a id="fig-{kind}"></a>\n\*\*Figure \d+\.\*\* EM stops; Winnow goes on\.',
        words_of(caption),
    )
    assert plt.get_fignums() == []


def test_a_figure_keeps_its_number_when_its_cell_runs_again():
    captions = []
    for name in ("fig-first", "fig-second", "fig-first"):
        plt.subplots()
        captions.append(displayed(report.figure, None, "Words.", name=name, alt="Words.")[1])
    first, second, again = (re.search(r"Figure (\d+)", words_of(c))[1] for c in captions)
    assert first == again
    assert int(second) == int(first) + 1


def test_a_table_shows_words_numbers_and_estimates():
    frame = pd.DataFrame(
        {
            "learner": ["EM", "a|b*"],
            "T": [0.123, math.nan],
            "lead": [Estimate(-0.5, -0.61, -0.4, 9), Estimate(1.0, 0.9, 1.1, 9)],
            "n": [1000, 2],
        }
    )
    (output,) = displayed(report.table, frame, "EM wins.", name="tbl-t", formats={"T": ".1f"})
    assert words_of(output).partition("\n\n")[2].splitlines() == [
        "| learner | T | lead | n |",
        "| --- | --- | --- | --- |",
        "| EM | 0.1 | −0.50 [−0.61, −0.40] | 1,000 |",
        "| a\\|b\\* | — | 1.00 [0.90, 1.10] | 2 |",
    ]
    assert words_of(output).startswith('<a id="tbl-t"></a>**Table ')
    recorded = output.metadata["numbers"]
    assert recorded["T"] == [0.123, None]
    assert recorded["lead"][0] == {"value": -0.5, "low": -0.61, "high": -0.4, "n": 9}
    assert "learner" not in recorded


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: report.figure(None, "W.", name="five", alt="W."), 'such as "fig-curves"'),
        (lambda: report.figure(None, " ", name="fig-five", alt="W."), "caption of 'fig-five'"),
        (lambda: report.figure(None, "W.", name="fig-five", alt=""), "alt of 'fig-five'"),
        (lambda: report.table(pd.DataFrame(), "W.", name="fig-a"), 'such as "tbl-curves"'),
        (
            lambda: report.table(pd.DataFrame({"a": []}), "W.", name="tbl-a", formats={"b": ""}),
            r"formats of 'tbl-a': no column \['b'\]",
        ),
    ],
)
def test_what_is_missing_is_named(action, message):
    with pytest.raises(ValueError, match=message):
        action()


def test_claims_show_themselves_without_a_renderer():
    claims = Claims("groveroth1997")
    for id, low in (("first-claim", 1.0), ("second-claim", -1.0)):
        claim = claims.claim(id, f"The {id}.", quote="...")
        claim.test(
            f"{id}-a",
            "n = 10",
            estimate=Estimate(2.0, low, 3.0, 30),
            statistic="a − b",
            region=(0, math.inf),
            margin=0.5,
            unit="random models",
        )
    (output,) = displayed(claims.show)
    words = words_of(output)
    assert words.startswith("Of 2 claims, 1 holds and 1 is undecided.\n\n| Claim")
    assert "2 [1, 3] | 0.5 | 30 random models |" in words
    assert "<details class=" in words
    assert "{dropdown}" not in words
    assert len(output.data["application/vnd.claims+json"]) == 2

    identity = claims.claim("third-claim", "The third.", quote="...", exact=True)
    for i in (1, 2):
        identity.test(
            f"third-claim-{i}",
            estimate=Estimate.exact(0.0),
            statistic="a − b",
            region=(1, math.inf),
        )
    (output,) = displayed(claims.show)
    assert "| The third. | " in words_of(output)
    assert " (exact) | 0 (exact) |  |  |" in words_of(output)
