"""Figures and tables: what is drawn is what the frame says, and nothing else."""

import itertools
import re

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

from lib import figures
from lib.colour import contrast
from lib.evaluation import compare_ranks
from lib.experiments import CIA_LEARNERS
from lib.figures import comparison, heatmap, style_of
from lib.figures.colours import COLOURS, LINE_COLOURS
from lib.figures.learner_styles import STYLES

pytestmark = pytest.mark.filterwarnings("error")
BLUE, VERMILLION, GREY = "#0072b2", "#d55e00", "#7f7f7f"


@pytest.fixture(autouse=True)
def _style():
    with plt.rc_context():
        figures.use_style()
        yield
    plt.close("all")


# What is drawn, as numbers and words: of artists, only these know.


def words(texts):
    return [text.get_text() for text in texts]


def written(axis):
    """Words, and whether they are bold, by the place where they stand."""
    return {
        text.get_position(): (text.get_text(), text.get_fontweight() == "bold")
        for text in axis.texts
    }


def points(axis):
    """(x, y) of the marks of seaborn, by colour."""
    found = {}
    for collection in axis.collections:
        if isinstance(collection, PathCollection):
            for place, colour in zip(
                collection.get_offsets(), collection.get_facecolors(), strict=True
            ):
                if np.isfinite(place).all():
                    found.setdefault(to_hex(colour), []).append(
                        tuple(map(float, np.ma.getdata(place)))
                    )
    return found


def lines(axis):
    """(x, y) of both ends of the lines that have two and are in sight, with their colour."""
    found = [
        (line.get_xydata(), line.get_color())
        for line in axis.lines
        if line.get_linestyle() != "None"
    ]
    for collection in axis.collections:
        if isinstance(collection, LineCollection):
            segments, colours = collection.get_segments(), collection.get_colors()
            found += zip(segments, np.resize(colours, (len(segments), 4)), strict=True)
    pairs = [(ends, colour) for ends, colour in found if len(ends) == 2 and np.isfinite(ends).all()]
    return [(*(tuple(map(float, end)) for end in ends), to_hex(colour)) for ends, colour in pairs]


def level(axis):
    """(x, x) of the horizontal ones, with height and colour."""
    return [(a[0], b[0], a[1], colour) for a, b, colour in lines(axis) if a[1] == b[1]]


@pytest.fixture
def frame():
    """T of "em" is 0.5 and of "winnow" 0.25 on every model, at every size."""
    rows = [
        (model, size, learner, 0.6 + 0.2 * t, 0.8, 0.6)
        for model in range(4)
        for size in (10, 100)
        for learner, t in (("em", 0.5), ("winnow", 0.25))
    ]
    return pd.DataFrame(rows, columns=["model", "size", "learner", "accuracy", "best", "constant"])


ELR = [
    "elr",
    "ofe",
    "apn",
    "elr_forced",
    "elr_converged",
    "elr_fixed",
    "selective",
    "svm_paper",
    "svm_rbf",
    "boosting",
]


@pytest.mark.parametrize("names", [CIA_LEARNERS, [*ELR, "forest", "tree"]])
def test_the_learners_of_a_part_look_different(names):
    assert set(names) <= set(STYLES)
    for keys in (["color", "marker"], ["label"]):
        assert len({tuple(figures.style_of(name)[key] for key in keys) for name in names}) == len(
            names
        )


def test_a_learner_of_ones_own_keeps_its_style():
    assert figures.style_of("mine") == figures.style_of("mine") | {"label": "mine"}


def test_learning_curves_draw_t(frame):
    grid = figures.learning_curves(frame.assign(n_attributes=5, n_hidden=2, difficulty=0.9))
    assert [pytest.approx(line[:3]) for line in level(grid.ax)][:2] == [
        (10, 100, 0.5),
        (10, 100, 0.25),
    ]
    assert words(grid.figure.legends[0].get_texts()) == ["EM", "Winnow"]
    assert grid.ax.get_title() == "CIA(5, 2, 0.9)"


@pytest.mark.parametrize(
    ("size", "words"),
    [(30.0, "30"), (2000.0, "2,000"), (np.inf, "> 3,000"), (20.0, "≤ 20"), (np.nan, "?")],
)
def test_crossing_sizes_in_words(size, words):
    assert figures.size_words(size, (20, 3000)) == words


def test_tables_are_numbered_and_harmless():
    made = figures.table(
        pd.DataFrame({"a|b": ["x|y"], "c": [0.12345]}), "A caption.", "tbl-x", {"c": ".2f"}
    ).data
    lines = made.splitlines()
    assert lines[:2] == ["```{table} A caption.", ":name: tbl-x"]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 3 for line in lines[3:-1])
    assert re.search(r" 0\.12 ", lines[-2])


def test_table_words_for_numbers_that_are_not():
    made = figures.table(pd.DataFrame({"s": [np.inf, np.nan, 3.0]}), "c", "t", {"s": ".0f"}).data
    assert [line.strip("| ") for line in made.splitlines()[-4:-1]] == ["never", "—", "3"]


def test_in_a_table_only_an_end_of_an_interval_has_the_sign_of_zero():
    values = ["-0.00 [-0.02, -0.00]", "−0.0 ± 0.1", "+0", "0.04-0.00", "-0.01", "mofn-0"]
    made = figures.table(
        pd.DataFrame({"v": [-0.004, -0.006], "w": [0.0, 1.0]}), "c", "t", {"v": "+.2f"}
    ).data
    assert [line for line in made.splitlines() if line.startswith("| ")][2:] == [
        "| 0.00 | 0.0 |",
        "| -0.01 | 1.0 |",
    ]
    lines = figures.table(pd.DataFrame({"v": values}), "c", "t").data.splitlines()[-7:-1]
    assert lines == [f"| {v} |" for v in ["0.00 [-0.02, -0.00]", "0.0 ± 0.1", "0", *values[3:]]]


def test_glued_numbers_are_plain(monkeypatch):
    glued = {}
    monkeypatch.setattr(
        "lib.figures.page.glue", lambda name, value, display: glued.update({name: value})
    )
    figures.glue_numbers(a=np.float64(1.23456789), b=np.int64(3), c=np.bool_(True), d="word")
    figures.glue_estimates(100, e=(0.5, 0.25, 0.75, 8))
    assert [repr(value) for value in glued.values()] == [
        "1.23457",
        "3",
        "'yes'",
        "'word'",
        "50.0",
        "25.0",
        "75.0",
    ]


def test_plus_minus():
    texts = figures.plus_minus([0.123, np.nan, -1.0], [0.045, np.nan, np.nan])
    assert texts == ["0.12 ±\xa00.04", "—", "−1.00 ±\xa0—"]


@pytest.mark.parametrize("k", [3, 5])
def test_the_critical_difference_diagram_has_names_ranks_and_bars(k):
    scores = {
        "winnow": [0.9, 0.8, 0.7, 0.9],
        "tree": [0.8, 0.7, 0.6, 0.95],
        "mine": [0.1, 0.2, 0.3, 0.1],
    }
    scores |= {"forest": [0.5, 0.6, 0.5, 0.4], "logistic": [0.3, 0.3, 0.4, 0.2]}
    ranks = compare_ranks(pd.DataFrame(scores).iloc[:, :k])
    (axis,) = comparison.critical_difference_diagram(ranks).axes
    labels = [f"{style_of(name)['label']} {rank:.2f}" for name, rank in ranks.ranks.items()]
    ticks = map(str, range(1, k + 1, 2))
    assert sorted(t.strip() for t in words(axis.texts)) == sorted(
        [*ticks, *labels, "critical difference"]
    )
    assert axis.get_xlim()[0] > axis.get_xlim()[1]  # the best on the right
    (difference,) = [a - b for a, b, height, _ in level(axis) if height > 1]
    assert difference == pytest.approx(ranks.critical_difference)
    bars = [(a, b) for a, b, height, _ in level(axis) if height < 0]
    ends = [(ranks.ranks[group[0]] - 0.06, ranks.ranks[group[-1]] + 0.06) for group in ranks.groups]
    np.testing.assert_allclose(bars, ends)


def test_differences_are_drawn_with_their_intervals_and_coloured_by_them():
    rows = [
        ("iris", "A − B", 1.0, 0.5, 1.5),
        ("vote", "A − B", -2.0, -3.0, -1.0),
        ("iris", "A − C", 0.1, -1.0, 1.2),
    ]
    table = pd.DataFrame(rows, columns=["dataset", "pair", "value", "low", "high"])
    figure = comparison.differences_by_dataset(table, "points")
    first, second = figure.axes
    assert [axis.get_title() for axis in figure.axes] == ["A − B", "A − C"]
    assert words(first.get_yticklabels()) == ["iris", "vote"]
    assert first.get_ylim()[0] > first.get_ylim()[1]  # the first set above
    assert points(first) == {BLUE: [(1, 0)], VERMILLION: [(-2, 1)]}  # above 0, below 0
    assert points(second) == {GREY: [(0.1, 0)]}  # neither
    assert level(first) == [(0.5, 1.5, 0, BLUE), (-3, -1, 1, VERMILLION)]
    assert level(second) == [(-1, 1.2, 0, GREY)]


def test_the_accuracy_map_shows_the_best_in_bold():
    table = pd.DataFrame(
        {"winnow": [0.9, 0.5], "tree": [0.8, 0.75], "mine": [0.9, 0.7]}, index=["iris", "vote"]
    )
    axis = comparison.accuracy_map(table).axes[0]
    assert words(axis.get_xticklabels()) == ["iris", "vote"]
    assert words(axis.get_yticklabels()) == ["Winnow", "Decision tree", "mine"]
    cells = written(axis)
    for (j, dataset), (i, learner) in itertools.product(
        enumerate(table.index), enumerate(table.columns)
    ):
        value, best = table.loc[dataset, learner], table.loc[dataset].max()
        assert cells[j + 0.5, i + 0.5] == (f"{100 * value:.1f}", value == best)


def test_words_of_a_heatmap_stand_out_and_keep_their_colours():
    values = np.array([[0.0, 0.3, np.nan], [0.6, 0.8, 1.0]])
    axis = heatmap(
        pd.DataFrame(values), True, plt.subplots()[1], fmt=".1f", cmap="viridis", vmin=0, vmax=1
    )
    assert words(axis.texts) == ["0.0", "0.3", "0.6", "0.8", "1.0"]
    cells = plt.get_cmap("viridis")(values[~np.isnan(values)])
    assert all(
        contrast(text.get_color(), cell) > 4.5 for text, cell in zip(axis.texts, cells, strict=True)
    )
    assert all(artist.get_gid().startswith("fixed-") for artist in [*axis.texts, *axis.collections])


def errors(rows, panel="NB: OFE against ELR"):
    frame = pd.DataFrame(rows, columns=["dataset", "x", "x_se", "y", "y_se"])
    return frame.assign(panel=panel, x_label="ELR", y_label="OFE")


class TestErrorScatter:
    ROWS = (
        ("iris", 5.0, 1.0, 9.0, 1.0),
        ("vote", 10.0, 1.0, 6.0, 1.0),
        ("heart", 20.0, 2.0, 22.0, 2.0),
    )

    def test_points_bars_and_words(self):
        figure = figures.error_scatter(errors(self.ROWS))
        (axis,) = figure.axes
        assert points(axis) == {BLUE: [(5, 9)], VERMILLION: [(10, 6)], GREY: [(20, 22)]}
        assert {((4, 9), (6, 9)), ((5, 8), (5, 10))} <= {line[:2] for line in lines(axis)}
        assert {"above: ELR better", "below: OFE better", "iris", "vote"} <= set(words(axis.texts))
        assert (axis.get_xlabel(), axis.get_ylabel()) == ("ELR: error (%)", "OFE: error (%)")

    def test_a_panel_a_pair_in_order_on_the_same_squares(self):
        frame = pd.concat([errors(self.ROWS, name) for name in ("b", "a", "c")])
        axes = figures.error_scatter(frame).axes
        assert [axis.get_title() for axis in axes] == ["b", "a", "c"]
        assert len({(*axis.get_xlim(), *axis.get_ylim()) for axis in axes}) == 1
        assert axes[0].get_xlim() == axes[0].get_ylim()
        assert axes[0].get_xlim()[0] < 0  # so that an error of zero shows

    def test_names_do_not_overlap_and_are_few(self):
        rng = np.random.default_rng(0)
        x = rng.uniform(0, 40, 25)
        rows = [(f"data set {i}", v, 1.0, abs(v + rng.normal(0, 4)), 1.0) for i, v in enumerate(x)]
        (axis,) = figures.error_scatter(errors(rows)).axes
        names = [text for text in axis.texts if text.get_text().startswith("data set")]
        assert 1 <= len(names) <= 4
        for a, b in itertools.combinations([text for text in axis.texts if text.get_text()], 2):
            assert not a.get_window_extent().overlaps(b.get_window_extent())
        for name in names:
            x0, y0, x1, y1 = name.get_window_extent().extents
            assert axis.bbox.contains(x0, y0)
            assert axis.bbox.contains(x1, y1)

    def test_unknown_errors_and_unknown_points(self):
        rows = [("iris", 5.0, np.nan, 30.0, 1.0), ("vote", np.nan, 1.0, 6.0, 1.0)]
        (axis,) = figures.error_scatter(errors(rows)).axes
        assert points(axis) == {GREY: [(5, 30)]}
        assert figures.error_scatter(errors([("vote", np.nan, np.nan, np.nan, np.nan)])).axes


def agreement(columns, names=("iris", "vote"), z=None):
    rows = [(name, column) for name in names for column in columns]
    frame = pd.DataFrame(rows, columns=["dataset", "column"])
    return frame.assign(z=np.zeros(len(rows)) if z is None else z, ours=80.0, printed=81.0)


class TestAgreementMap:
    def test_cells_and_shares(self):
        frame = agreement(["NB+OFE", "TAN+ELR", "NB+ELR"], z=[0.04, -3.26, -0.04, 2.0, 7.0, np.nan])
        figure = figures.agreement_map(frame)
        nb, tan = figure.axes[:2]
        assert [axis.get_title() for axis in (nb, tan)] == ["NB", "TAN"]
        cells = {(0.5, 0.5): "0.0", (1.5, 0.5): "0.0", (0.5, 1.5): "2.0"}  # none at the right below
        cells |= {(0.5, 2.65): "100%", (1.5, 2.65): "100%", (-0.1, 2.65): "|z| ≤ 2"}
        assert written(nb) == {place: (word, False) for place, word in cells.items()}
        assert written(tan) == {
            (0.5, 0.5): ("−3.3", True),
            (0.5, 1.5): ("7.0", True),
            (0.5, 2.65): ("0%", False),
        }
        assert (words(nb.get_xticklabels()), words(tan.get_xticklabels())) == (
            ["OFE", "ELR"],
            ["ELR"],
        )
        assert words(nb.get_yticklabels()) == ["iris", "vote"]
        assert words(figure.legends[0].get_texts()) == ["no run here"]


def positions(rows):
    return pd.DataFrame(
        rows, columns=["dataset", "column", "low", "q05", "q95", "high", "ours", "printed"]
    )


class TestShufflePositions:
    ROWS = (
        ("iris", "NB+OFE", 90.0, 92.0, 95.0, 97.0, 94.0, 93.0),
        ("vote", "NB+OFE", 89.0, 89.0, 91.0, 91.0, 90.0, 92.0),
        ("iris", "NB+ELR", 90.0, 92.0, 95.0, 97.0, 94.0, 94.0),
    )

    def test_lines_and_marks_are_points_above_the_mean(self):
        first, second = figures.shuffle_positions(positions(self.ROWS)).axes
        assert [axis.get_title() for axis in (first, second)] == ["NB+OFE", "NB+ELR"]
        drawn = [[line[:3] for line in level(axis)] for axis in (first, second)]
        # ranges, then the middle parts
        assert drawn[0] == [(-4, 3, 0), (-1, 1, 1), (-2, 1, 0), (-1, 1, 1)]
        assert drawn[1] == [(-4, 3, 0), (-2, 1, 0)]
        assert points(first) == {"#000000": [(-1, 0)], VERMILLION: [(2, 1)]}
        assert points(second) == {"#000000": [(0, 0)]}
        assert words(first.get_yticklabels()) == ["iris", "vote"]
        assert first.get_ylim()[0] > first.get_ylim()[1]  # the first data set on top


@pytest.mark.parametrize(
    ("draw", "empty"),
    [
        (figures.error_scatter, errors([])),
        (figures.agreement_map, agreement([])),
        (figures.shuffle_positions, positions([])),
    ],
)
def test_nothing_to_draw_is_said(draw, empty):
    (axis,) = draw(empty).axes
    assert len(words(axis.texts)) == 1
    assert not axis.axison


class TestPairs:
    def test_labels(self):
        made = [
            figures.pair_label(pair)
            for pair in ("naive+elr", "tan+ofe", "bic+em", "naive+elr_forced")
        ]
        assert made == ["NB+ELR", "TAN+OFE", "GBN+EM", "NB+ELR, one step at least"]
        made = [figures.pair_label(name) for name in ("elr", "mine", "a+b", "tan+mine")]
        assert made == ["ELR", "mine", "a+b", "TAN+mine"]

    def test_a_pair_has_the_learners_colour_and_the_structures_marker(self):
        pairs = [
            f"{s}+{learner}"
            for s in ("naive", "tan", "bic")
            for learner in ("ofe", "elr", "apn", "em")
        ]
        styles = [figures.style_of(pair) for pair in pairs]
        assert len({(style["color"], style["marker"]) for style in styles}) == len(pairs)
        assert figures.style_of("tan+elr") == figures.style_of("elr") | {
            "label": "TAN+ELR",
            "marker": "^",
        }
        assert figures.style_of("a+b")["label"] == "a+b"


def test_colours_of_lines_stand_out_on_white_and_no_colour_has_two_names():
    for name, colour in LINE_COLOURS.items():
        assert contrast(colour, "white") >= 3, name
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_contrast_goes_from_1_to_21_and_has_no_order():
    assert contrast("black", "white") == contrast("white", "black") == pytest.approx(21)
    assert contrast("#0072B2", "#0072B2") == 1
    # the lightest grey that WCAG AA allows
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.005)
