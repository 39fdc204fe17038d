"""Pictures of agreement with a paper: what is drawn is what the frame says, and nothing else."""

import matplotlib

matplotlib.use("agg")

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

from lib import figures

pytestmark = pytest.mark.filterwarnings("error")
BLUE, VERMILLION, GREY = "#0072b2", "#d55e00", "#7f7f7f"


@pytest.fixture(autouse=True)
def _style():
    with plt.rc_context():
        figures.use_style()
        yield
    plt.close("all")


def texts(axis):
    return [text.get_text() for text in axis.texts]


def scattered(axis):
    """(x, y) of the points that seaborn has drawn, by colour."""
    points = {}
    for collection in axis.collections:
        if isinstance(collection, PathCollection):
            for place, colour in zip(collection.get_offsets(), collection.get_facecolors(), strict=True):
                if np.isfinite(place).all():
                    points.setdefault(to_hex(colour), []).append(tuple(map(float, np.ma.getdata(place))))
    return points


def segments(axis):
    """Ends of the horizontal lines, those that are drawn."""
    found = [s for c in axis.collections if isinstance(c, LineCollection) for s in c.get_segments()]
    return [tuple(s[:, 0]) for s in found if len(s) == 2 and np.isfinite(s).all()]


def errors(rows, panel="NB: OFE against ELR"):
    frame = pd.DataFrame(rows, columns=["dataset", "x", "x_se", "y", "y_se"])
    return frame.assign(panel=panel, x_label="ELR", y_label="OFE")


class TestErrorScatter:
    ROWS = (("iris", 5.0, 1.0, 9.0, 1.0), ("vote", 10.0, 1.0, 6.0, 1.0), ("heart", 20.0, 2.0, 22.0, 2.0))

    def test_points_bars_and_words(self):
        figure = figures.error_scatter(errors(self.ROWS))
        (axis,) = figure.axes
        assert scattered(axis) == {BLUE: [(5, 9)], VERMILLION: [(10, 6)], GREY: [(20, 22)]}
        lines = [s for c in axis.collections if isinstance(c, LineCollection) for s in c.get_segments()]
        np.testing.assert_allclose(lines[0], [(4, 9), (6, 9)])
        np.testing.assert_allclose(lines[3], [(5, 8), (5, 10)])
        assert {"above: ELR better", "below: OFE better", "iris", "vote"} <= set(texts(axis))
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
        assert scattered(axis) == {GREY: [(5, 30)]}
        assert figures.error_scatter(errors([("vote", np.nan, np.nan, np.nan, np.nan)])).axes


def agreement(columns, names=("iris", "vote"), z=None):
    rows = [(name, column) for name in names for column in columns]
    frame = pd.DataFrame(rows, columns=["dataset", "column"])
    return frame.assign(z=np.zeros(len(rows)) if z is None else z, ours=80.0, printed=81.0)


def ticks(axis):
    return [tick.get_text() for tick in axis.get_xticklabels()]


class TestAgreementMap:
    def test_cells_and_shares(self):
        frame = agreement(["NB+OFE", "TAN+ELR", "NB+ELR"], z=[0.04, -3.26, -0.04, 2.0, 7.0, np.nan])
        figure = figures.agreement_map(frame)
        nb, tan = figure.axes[:2]
        assert [axis.get_title() for axis in (nb, tan)] == ["NB", "TAN"]
        assert texts(nb) == ["0.0", "0.0", "2.0", "100%", "100%", "|z| ≤ 2"]
        assert texts(tan) == ["−3.3", "7.0", "0%"]
        assert (ticks(nb), ticks(tan)) == (["OFE", "ELR"], ["ELR"])
        assert [tick.get_text() for tick in nb.get_yticklabels()] == ["iris", "vote"]
        bold = [text.get_text() for axis in (nb, tan) for text in axis.texts if text.get_fontweight() == "bold"]
        assert bold == ["−3.3", "7.0"]
        np.testing.assert_array_equal(nb.collections[0].get_array().mask, [[False, False], [False, True]])
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["no run here"]


def positions(rows):
    return pd.DataFrame(rows, columns=["dataset", "column", "low", "q05", "q95", "high", "ours", "printed"])


class TestShufflePositions:
    ROWS = (
        ("iris", "NB+OFE", 90.0, 92.0, 95.0, 97.0, 94.0, 93.0),
        ("vote", "NB+OFE", 89.0, 89.0, 91.0, 91.0, 90.0, 92.0),
        ("iris", "NB+ELR", 90.0, 92.0, 95.0, 97.0, 94.0, 94.0),
    )

    def test_lines_and_marks_are_points_above_the_mean(self):
        first, second = figures.shuffle_positions(positions(self.ROWS)).axes
        assert [axis.get_title() for axis in (first, second)] == ["NB+OFE", "NB+ELR"]
        assert segments(first) == [(-4, 3), (-1, 1), (-2, 1), (-1, 1)]  # ranges, then the middle parts
        assert segments(second) == [(-4, 3), (-2, 1)]
        assert scattered(first) == {"#000000": [(-1, 0)], VERMILLION: [(2, 1)]}
        assert scattered(second) == {"#000000": [(0, 0)]}
        assert [tick.get_text() for tick in first.get_yticklabels()] == ["iris", "vote"]
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
    assert len(texts(axis)) == 1
    assert not axis.axison


class TestPairs:
    def test_labels(self):
        made = [figures.pair_label(pair) for pair in ("naive+elr", "tan+ofe", "bic+em", "naive+elr_forced")]
        assert made == ["NB+ELR", "TAN+OFE", "GBN+EM", "NB+ELR, one step at least"]
        made = [figures.pair_label(name) for name in ("elr", "mine", "a+b", "tan+mine")]
        assert made == ["ELR", "mine", "a+b", "TAN+mine"]

    def test_a_pair_has_the_learners_colour_and_the_structures_marker(self):
        pairs = [f"{s}+{learner}" for s in ("naive", "tan", "bic") for learner in ("ofe", "elr", "apn", "em")]
        looks = [figures.look(pair) for pair in pairs]
        assert len({(look["color"], look["marker"]) for look in looks}) == len(pairs)
        assert figures.look("tan+elr") == figures.look("elr") | {"label": "TAN+ELR", "marker": "^"}
        assert figures.look("a+b")["label"] == "a+b"
