"""Figures and tables: what is drawn is what the frame says, and nothing else."""

import itertools

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
from lib.experiments import CIA_LEARNERS
from lib.figures import comparison, heatmap
from lib.figures.colours import COLOURS, LINE_COLOURS
from lib.figures.learner_styles import STYLES

pytestmark = pytest.mark.filterwarnings("error")
BLUE = "#0072b2"
VERMILLION = "#d55e00"
GREY = "#7f7f7f"


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


def test_plus_minus():
    texts = figures.plus_minus([0.123, np.nan, -1.0], [0.045, np.nan, np.nan])
    assert texts == ["0.12 ±\xa00.04", "—", "−1.00 ±\xa0—"]


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
        {"winnow": [1.0, 0.5], "tree": [0.8, 0.75], "mine": [1.0, 0.7]}, index=["iris", "vote"]
    )
    axis = comparison.accuracy_map(table).axes[0]
    assert words(axis.get_xticklabels()) == ["iris", "vote"]
    assert words(axis.get_yticklabels()) == ["Winnow", "Decision tree", "mine"]
    cells = texts_by_position(axis)
    for j, i in np.ndindex(table.shape):
        value = table.iloc[j, i]
        is_best = value == table.iloc[j].max()
        words_of_value = "100" if value == 1 else f"{100 * value:.1f}"
        assert cells[j + 0.5, i + 0.5] == (words_of_value, is_best)


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


def test_the_map_of_agreement_has_a_colour_for_what_is_far():
    cells = pd.DataFrame(
        {
            "dataset": ["vote", "vote", "iris", "iris"],
            "column": ["NB+OFE", "NB+ELR", "NB+OFE", "NB+ELR"],
            "z": [-0.04, 3.26, np.nan, -np.inf],
        }
    )
    axis, bar = figures.agreement_map(cells).axes
    texts = {position: text for position, (text, _) in texts_by_position(axis).items()}
    assert texts == {(0.5, 0.5): "0.0", (1.5, 0.5): "3.3", (1.5, 1.5): "−∞"}
    assert words(axis.get_xticklabels()) == ["NB+OFE", "NB+ELR"]
    assert words(axis.get_yticklabels()) == ["vote", "iris"]
    pale, blue, red = axis.collections[0].get_facecolors()[[0, 1, 3], :3]
    assert min(pale) > 0.9
    assert blue[2] > blue[0]
    assert red[0] > red[2]
    assert list(bar.get_xticks()) == [-6, -2, 2, 6]


def test_nothing_to_draw_is_said():
    (axis,) = figures.agreement_map(pd.DataFrame(columns=["dataset", "column", "z"])).axes
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
