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
from lib.base.colour import contrast
from lib.evaluation import compare_ranks
from lib.experiments import CIA_LEARNERS
from lib.figures import comparison, heatmap, style_of
from lib.figures.colours import COLOURS, LINE_COLOURS
from lib.figures.learner_styles import STYLES

pytestmark = pytest.mark.filterwarnings("error")
BLUE = "#0072b2"
VERMILLION = "#d55e00"
GREY = "#7f7f7f"
BLACK = "#000000"


@pytest.fixture(autouse=True)
def _style():
    with plt.rc_context():
        figures.use_style()
        yield
    plt.close("all")


# What is drawn, as numbers and words: of artists, only these know.


def words(texts):
    return [text.get_text() for text in texts]


def texts_by_position(axis):
    """Words, and whether they are bold, by the position where they stand."""
    result = {}
    for text in axis.texts:
        is_bold = text.get_fontweight() == "bold"
        result[text.get_position()] = (text.get_text(), is_bold)
    return result


def marks(axis):
    """(x, y) of the marks of seaborn, by colour."""
    result = {}
    for collection in axis.collections:
        if not isinstance(collection, PathCollection):
            continue
        offsets = np.ma.getdata(collection.get_offsets())
        for (x, y), colour in zip(offsets, collection.get_facecolors(), strict=True):
            if np.isfinite([x, y]).all():
                result.setdefault(to_hex(colour), []).append((float(x), float(y)))
    return result


def lines(axis):
    """(x, y) of both ends of the lines that have two and are in sight, with their colour."""
    curves = []
    for line in axis.lines:
        if line.get_linestyle() != "None":
            curves.append((line.get_xydata(), line.get_color()))
    for collection in axis.collections:
        if isinstance(collection, LineCollection):
            segments = collection.get_segments()
            colours = np.resize(collection.get_colors(), (len(segments), 4))
            curves += zip(segments, colours, strict=True)
    result = []
    for vertices, colour in curves:
        if len(vertices) == 2 and np.isfinite(vertices).all():
            start, end = np.asarray(vertices).tolist()
            result.append((tuple(start), tuple(end), to_hex(colour)))
    return result


def horizontal_lines(axis):
    """(x, x) of the horizontal ones, with height and colour."""
    return [(a[0], b[0], a[1], colour) for a, b, colour in lines(axis) if a[1] == b[1]]


@pytest.fixture
def frame():
    """T of "em" is 0.5 and of "winnow" 0.25 on every model, at every size."""
    keys = itertools.product(range(4), (10, 100), ("em", "winnow"))
    frame = pd.DataFrame(keys, columns=["model", "size", "learner"])
    t = frame["learner"].map({"em": 0.5, "winnow": 0.25})
    return frame.assign(accuracy=0.6 + 0.2 * t, best=0.8, constant=0.6)


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
    styles = [figures.style_of(name) for name in names]
    looks = {(style["color"], style["marker"]) for style in styles}
    labels = {style["label"] for style in styles}
    assert len(looks) == len(labels) == len(names)


def test_a_learner_of_ones_own_keeps_its_style():
    assert figures.style_of("mine") == figures.style_of("mine") | {"label": "mine"}


def test_learning_curves_draw_t(frame):
    grid = figures.learning_curves(frame.assign(n_attributes=5, n_hidden=2, difficulty=0.9))
    em, winnow = [line[:3] for line in horizontal_lines(grid.ax)][:2]
    assert em == pytest.approx((10, 100, 0.5))
    assert winnow == pytest.approx((10, 100, 0.25))
    assert words(grid.figure.legends[0].get_texts()) == ["EM", "Winnow"]
    assert grid.ax.get_title() == "5 attributes, k = 2"


@pytest.mark.parametrize(
    ("size", "words"),
    [(30.0, "30"), (2000.0, "2,000"), (np.inf, "> 3,000"), (20.0, "≤ 20"), (np.nan, "?")],
)
def test_crossing_sizes_in_words(size, words):
    assert figures.size_words(size, (20, 3000)) == words


def table_lines(frame, caption="A caption.", name="tbl-x", formats=None):
    return figures.table(frame, caption, name, formats).data.splitlines()


def test_tables_are_numbered_and_harmless():
    frame = pd.DataFrame({"a|b": ["x|y"], "c": [0.12345]})
    lines = table_lines(frame, "A caption.", "tbl-x", {"c": ".2f"})
    assert lines[:2] == ["```{table} A caption.", ":name: tbl-x"]
    # a bar in a name or value is no border of a cell
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 3 for line in lines[3:-1])
    assert re.search(r" 0\.12 ", lines[-2])


def test_table_words_for_numbers_that_are_not():
    lines = table_lines(pd.DataFrame({"s": [np.inf, np.nan, 3.0]}), formats={"s": ".0f"})
    assert [line.strip("| ") for line in lines[-4:-1]] == ["never", "—", "3"]


def test_in_a_table_only_an_end_of_an_interval_has_the_sign_of_zero():
    frame = pd.DataFrame({"v": [-0.004, -0.006], "w": [0.0, 1.0]})
    lines = table_lines(frame, formats={"v": "+.2f"})
    rows = [line for line in lines if line.startswith("| ")][2:]
    assert rows == ["| 0.00 | 0.0 |", "| -0.01 | 1.0 |"]
    changes = {
        "-0.00 [-0.02, -0.00]": "0.00 [-0.02, -0.00]",
        "−0.0 ± 0.1": "0.0 ± 0.1",
        "+0": "0",
        "0.04-0.00": "0.04-0.00",
        "-0.01": "-0.01",
        "mofn-0": "mofn-0",
    }
    lines = table_lines(pd.DataFrame({"v": list(changes)}))
    assert lines[-7:-1] == [f"| {text} |" for text in changes.values()]


def test_glued_numbers_are_plain(monkeypatch):
    values = []
    monkeypatch.setattr("lib.figures.page.glue", lambda name, value, display: values.append(value))
    figures.glue_numbers(a=np.float64(1.23456789), b=np.int64(3), c=np.bool_(True), d="word")
    assert list(map(repr, values)) == ["1.23457", "3", "'yes'", "'word'"]
    values.clear()
    figures.glue_estimates(100, e=(0.5, 0.25, 0.75, 8))
    assert list(map(repr, values)) == ["50.0", "25.0", "75.0"]


def test_plus_minus():
    texts = figures.plus_minus([0.123, np.nan, -1.0], [0.045, np.nan, np.nan])
    assert texts == ["0.12 ±\xa00.04", "—", "−1.00 ±\xa0—"]


@pytest.mark.parametrize("k", [3, 5])
def test_the_critical_difference_diagram_has_names_ranks_and_bars(k):
    scores = {
        "winnow": [0.9, 0.8, 0.7, 0.9],
        "tree": [0.8, 0.7, 0.6, 0.95],
        "mine": [0.1, 0.2, 0.3, 0.1],
        "forest": [0.5, 0.6, 0.5, 0.4],
        "logistic": [0.3, 0.3, 0.4, 0.2],
    }
    ranks = compare_ranks(pd.DataFrame(scores).iloc[:, :k])
    (axis,) = comparison.critical_difference_diagram(ranks).axes
    labels = [f"{style_of(name)['label']} {rank:.2f}" for name, rank in ranks.ranks.items()]
    ticks = [str(rank) for rank in range(1, k + 1, 2)]
    texts = [text.strip() for text in words(axis.texts)]
    assert sorted(texts) == sorted([*ticks, *labels, "critical difference"])
    assert axis.get_xlim()[0] > axis.get_xlim()[1]  # the best on the right
    (difference,) = [a - b for a, b, height, _ in horizontal_lines(axis) if height > 1]
    assert difference == pytest.approx(ranks.critical_difference)
    bars = [(a, b) for a, b, height, _ in horizontal_lines(axis) if height < 0]
    # a bar reaches a little beyond the first and the last of its group
    expected = []
    for group in ranks.groups:
        expected.append((ranks.ranks[group[0]] - 0.06, ranks.ranks[group[-1]] + 0.06))
    np.testing.assert_allclose(bars, expected)


def test_differences_are_drawn_with_their_intervals_and_coloured_by_them():
    rows = [
        ("iris", "A − B", 0.5, 0.25, 0.75),
        ("vote", "A − B", -0.25, -0.5, -0.125),
        ("iris", "A − C", 0.125, -0.5, 0.75),
    ]
    table = pd.DataFrame(rows, columns=["dataset", "pair", "value", "low", "high"])
    figure = comparison.draw_differences(table)
    first, second = figure.axes
    assert [axis.get_title() for axis in figure.axes] == ["A − B", "A − C"]
    assert words(first.get_yticklabels()) == ["iris", "vote"]
    assert first.get_ylim()[0] > first.get_ylim()[1]  # the first set above
    assert marks(first) == {BLUE: [(50, 0)], VERMILLION: [(-25, 1)]}  # above 0, below 0
    assert marks(second) == {GREY: [(12.5, 0)]}  # neither
    assert horizontal_lines(first) == [(25, 75, 0, BLUE), (-50, -12.5, 1, VERMILLION)]
    assert horizontal_lines(second) == [(-50, 75, 0, GREY)]


def test_the_accuracy_map_shows_the_best_in_bold():
    table = pd.DataFrame(
        {"winnow": [0.9, 0.5], "tree": [0.8, 0.75], "mine": [0.9, 0.7]}, index=["iris", "vote"]
    )
    axis = comparison.accuracy_map(table).axes[0]
    assert words(axis.get_xticklabels()) == ["iris", "vote"]
    assert words(axis.get_yticklabels()) == ["Winnow", "Decision tree", "mine"]
    cells = texts_by_position(axis)
    for j, i in np.ndindex(table.shape):
        value = table.iloc[j, i]
        is_best = value == table.iloc[j].max()
        assert cells[j + 0.5, i + 0.5] == (f"{100 * value:.1f}", is_best)


def test_words_of_a_heatmap_stand_out_and_keep_their_colours():
    values = np.array([[0.0, 0.3, np.nan], [0.6, 0.8, 1.0]])
    _, axis = plt.subplots()
    heatmap(pd.DataFrame(values), True, axis, fmt=".1f", cmap="viridis", vmin=0, vmax=1)
    assert words(axis.texts) == ["0.0", "0.3", "0.6", "0.8", "1.0"]
    cells = plt.get_cmap("viridis")(values[~np.isnan(values)])
    for text, cell in zip(axis.texts, cells, strict=True):
        assert contrast(text.get_color(), cell) > 4.5  # WCAG AA
    for artist in [*axis.texts, *axis.collections]:
        assert artist.get_gid().startswith("fixed-")


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
        assert marks(axis) == {BLUE: [(5, 9)], VERMILLION: [(10, 6)], GREY: [(20, 22)]}
        ends = [(start, end) for start, end, _ in lines(axis)]
        assert ((4, 9), (6, 9)) in ends
        assert ((5, 8), (5, 10)) in ends
        assert {"above: ELR better", "below: OFE better", "iris", "vote"} <= set(words(axis.texts))
        assert axis.get_xlabel() == "ELR: error (%)"
        assert axis.get_ylabel() == "OFE: error (%)"

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
        y = abs(x + rng.normal(0, 4, 25))
        rows = [(f"data set {i}", x[i], 1.0, y[i], 1.0) for i in range(25)]
        (axis,) = figures.error_scatter(errors(rows)).axes
        names = [text for text in axis.texts if text.get_text().startswith("data set")]
        assert 1 <= len(names) <= 4
        boxes = [text.get_window_extent() for text in axis.texts if text.get_text()]
        for a, b in itertools.combinations(boxes, 2):
            assert not a.overlaps(b)
        for name in names:
            x0, y0, x1, y1 = name.get_window_extent().extents
            assert axis.bbox.contains(x0, y0)
            assert axis.bbox.contains(x1, y1)

    def test_unknown_errors_and_unknown_points(self):
        rows = [("iris", 5.0, np.nan, 30.0, 1.0), ("vote", np.nan, 1.0, 6.0, 1.0)]
        (axis,) = figures.error_scatter(errors(rows)).axes
        assert marks(axis) == {GREY: [(5, 30)]}
        assert figures.error_scatter(errors([("vote", np.nan, np.nan, np.nan, np.nan)])).axes


def agreement(columns, z):
    """All cells of two data sets."""
    rows = itertools.product(("iris", "vote"), columns)
    frame = pd.DataFrame(rows, columns=["dataset", "column"])
    return frame.assign(z=z, ours=80.0, printed=81.0)


class TestAgreementMap:
    def test_cells_and_shares(self):
        """Bold where |z| > 2; below the cells, the share of each column where it is not."""
        z = [0.04, -3.26, -0.04, 2.0, 7.0, np.nan]
        figure = figures.agreement_map(agreement(["NB+OFE", "TAN+ELR", "NB+ELR"], z))
        nb, tan = figure.axes[:2]
        assert [axis.get_title() for axis in (nb, tan)] == ["NB", "TAN"]
        assert texts_by_position(nb) == {
            (0.5, 0.5): ("0.0", False),
            (1.5, 0.5): ("0.0", False),
            (0.5, 1.5): ("2.0", False),  # and nothing at (1.5, 1.5)
            (0.5, 2.65): ("100%", False),
            (1.5, 2.65): ("100%", False),
            (-0.1, 2.65): ("|z| ≤ 2", False),
        }
        assert texts_by_position(tan) == {
            (0.5, 0.5): ("−3.3", True),
            (0.5, 1.5): ("7.0", True),
            (0.5, 2.65): ("0%", False),
        }
        assert words(nb.get_xticklabels()) == ["OFE", "ELR"]
        assert words(tan.get_xticklabels()) == ["ELR"]
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
        # ranges from the lowest to the highest, then from the 5% to the 95% quantile
        first_lines = [line[:3] for line in horizontal_lines(first)]
        assert first_lines == [(-4, 3, 0), (-1, 1, 1), (-2, 1, 0), (-1, 1, 1)]
        second_lines = [line[:3] for line in horizontal_lines(second)]
        assert second_lines == [(-4, 3, 0), (-2, 1, 0)]
        assert marks(first) == {BLACK: [(-1, 0)], VERMILLION: [(2, 1)]}
        assert marks(second) == {BLACK: [(0, 0)]}
        assert words(first.get_yticklabels()) == ["iris", "vote"]
        assert first.get_ylim()[0] > first.get_ylim()[1]  # the first data set on top


@pytest.mark.parametrize(
    ("draw", "empty_frame"),
    [
        (figures.error_scatter, errors([])),
        (figures.agreement_map, agreement([], z=[])),
        (figures.shuffle_positions, positions([])),
    ],
)
def test_nothing_to_draw_is_said(draw, empty_frame):
    (axis,) = draw(empty_frame).axes
    assert len(words(axis.texts)) == 1
    assert not axis.axison


class TestPairs:
    def test_labels(self):
        labels = {
            "naive+elr": "NB+ELR",
            "tan+ofe": "TAN+OFE",
            "bic+em": "GBN+EM",
            "naive+elr_forced": "NB+ELR, one step at least",
            "elr": "ELR",
            "mine": "mine",
            "a+b": "a+b",
            "tan+mine": "TAN+mine",
        }
        for pair, label in labels.items():
            assert figures.pair_label(pair) == label

    def test_a_pair_has_the_learners_colour_and_the_structures_marker(self):
        pairs = itertools.product(("naive", "tan", "bic"), ("ofe", "elr", "apn", "em"))
        styles = [figures.style_of(f"{structure}+{learner}") for structure, learner in pairs]
        assert len({(style["color"], style["marker"]) for style in styles}) == 3 * 4
        expected = figures.style_of("elr") | {"label": "TAN+ELR", "marker": "^"}
        assert figures.style_of("tan+elr") == expected
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
