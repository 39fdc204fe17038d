"""Pictures of agreement with a paper: what is drawn is what the frame says, and nothing else."""

import matplotlib

matplotlib.use("agg")

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from lib import figures
from lib.evaluation import compare_ranks
from lib.figures import comparison

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


def marked(axis, color=None):
    """(x, y, marker) of what has a marker, of one colour if that is given."""
    return [
        (x, y, line.get_marker())
        for line in axis.lines
        if line.get_marker() != "None" and color in (None, to_hex(line.get_color()))
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
        if np.isfinite([x, y]).all()
    ]


def segments(axis):
    """Ends of the horizontal lines, those that are drawn."""
    found = [s for c in axis.collections if isinstance(c, LineCollection) for s in c.get_segments()]
    return [tuple(s[:, 0]) for s in found if len(s) == 2 and np.isfinite(s).all()]


def errors(rows, panel="NB: OFE against ELR"):
    frame = pd.DataFrame(rows, columns=["dataset", "x", "x_se", "y", "y_se"])
    return frame.assign(panel=panel, x_label="ELR", y_label="OFE")


class TestErrorScatter:
    ROWS = (("iris", 5.0, 1.0, 9.0, 1.0), ("vote", 10.0, 1.0, 6.0, 1.0), ("heart", 20.0, 2.0, 22.0, 2.0))

    def test_sides_have_a_colour_and_a_marker(self):
        (axis,) = figures.error_scatter(errors(self.ROWS)).axes
        assert marked(axis, BLUE) == [(5, 9, "o")]
        assert marked(axis, VERMILLION) == [(10, 6, "s")]
        assert marked(axis, GREY) == [(20, 22, "D")]

    def test_words(self):
        figure = figures.error_scatter(errors(self.ROWS))
        (axis,) = figure.axes
        assert {"above: ELR better", "below: OFE better", "iris", "vote"} <= set(texts(axis))
        assert axis.get_title() == "NB: OFE against ELR"
        assert (axis.get_xlabel(), axis.get_ylabel()) == ("ELR: error (%)", "OFE: error (%)")
        assert len(figure.legends[0].get_texts()) == 3

    def test_bars_are_one_standard_error(self):
        (axis,) = figures.error_scatter(errors(self.ROWS)).axes
        lines = [s for c in axis.collections if isinstance(c, LineCollection) for s in c.get_segments()]
        np.testing.assert_allclose(lines[0], [(4, 9), (6, 9)])
        np.testing.assert_allclose(lines[3], [(5, 8), (5, 10)])

    def test_a_panel_a_pair_in_order_on_the_same_squares(self):
        frame = pd.concat([errors(self.ROWS, name) for name in ("b", "a", "c")])
        axes = figures.error_scatter(frame).axes
        assert [axis.get_title() for axis in axes] == ["b", "a", "c"]
        assert len({(*axis.get_xlim(), *axis.get_ylim()) for axis in axes}) == 1
        assert axes[0].get_xlim() == axes[0].get_ylim()
        assert axes[0].get_xlim()[0] < 0  # so that an error of zero shows
        for axis in axes:
            assert axis.bbox.width == pytest.approx(axis.bbox.height)

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

    def test_what_is_equal_has_no_name(self):
        (axis,) = figures.error_scatter(errors([("corral", 0.0, 0.0, 0.0, 0.0)])).axes
        assert marked(axis) == [(0, 0, "D")]
        assert "corral" not in texts(axis)

    def test_unknown_errors_and_unknown_points(self):
        rows = [("iris", 5.0, np.nan, 30.0, 1.0), ("vote", np.nan, 1.0, 6.0, 1.0)]
        (axis,) = figures.error_scatter(errors(rows)).axes
        assert marked(axis) == [(5, 30, "D")]
        assert figures.error_scatter(errors([("vote", np.nan, np.nan, np.nan, np.nan)])).axes


def agreement(columns, names=("iris", "vote"), z=None):
    rows = [(name, column) for name in names for column in columns]
    frame = pd.DataFrame(rows, columns=["dataset", "column"])
    return frame.assign(z=np.zeros(len(rows)) if z is None else z, ours=80.0, printed=81.0)


def cells(axis):
    return [patch for patch in axis.patches if isinstance(patch, Rectangle)]


class TestAgreementMap:
    def test_cells_and_shares(self):
        frame = agreement(["NB+OFE", "NB+ELR", "TAN+ELR"], z=[0.04, -0.04, -3.26, 2.0, np.nan, 7.0])
        figure = figures.agreement_map(frame)
        axis = figure.axes[0]
        assert texts(axis) == ["0.0", "0.0", "−3.3", "2.0", "7.0", "100%", "100%", "0%", "NB", "TAN"]
        bold = [text.get_text() for text in axis.texts if text.get_fontweight() == "bold"]
        assert bold == ["−3.3", "7.0", "NB", "TAN"]
        assert [tick.get_text() for tick in axis.get_xticklabels()] == ["OFE", "ELR", "ELR"]
        assert [tick.get_text() for tick in axis.get_yticklabels()] == ["iris", "vote", "|z| ≤ 2"]
        assert [patch.get_hatch() for patch in cells(axis)] == [None, None, None, None, "////", None]
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["no run here"]

    def test_groups_are_kept_together_with_gaps_between(self):
        axis = figures.agreement_map(agreement(["NB+OFE", "TAN+OFE", "NB+ELR"])).axes[0]
        assert [tick.get_text() for tick in axis.get_xticklabels()] == ["OFE", "ELR", "OFE"]
        within, between = np.diff(axis.get_xticks())
        assert between > within

    def test_blue_is_above_and_pale_within_two(self):
        axis = figures.agreement_map(agreement(["a"], names="abcde", z=[-4.0, -2.0, 0.0, 2.0, 4.0])).axes[0]
        red, green, blue = np.array([patch.get_facecolor()[:3] for patch in cells(axis)]).T
        assert red[0] > blue[0]
        assert red[4] < blue[4]
        assert (np.minimum(np.minimum(red, green), blue)[1:4] > 0.85).all()
        colors = [text.get_color() for text in axis.texts[:5]]
        assert colors == ["white", "black", "black", "black", "white"]

    def test_numbers_can_be_read(self):
        z = np.linspace(-8, 8, 161)
        axis = figures.agreement_map(agreement(["a"], names=range(161), z=z)).axes[0]
        light = np.array([_luminance(patch.get_facecolor()) for patch in cells(axis)])
        ink = np.array([_luminance(matplotlib.colors.to_rgba(text.get_color())) for text in axis.texts[:161]])
        assert ((np.maximum(light, ink) + 0.05) / (np.minimum(light, ink) + 0.05)).min() > 4.4

    @pytest.mark.parametrize("z", [np.nan, np.inf, -np.inf, 1.0])
    def test_one_cell(self, z):
        figure = figures.agreement_map(agreement(["svm"], names=["iris"], z=[z]))
        figure.canvas.draw()
        assert texts(figure.axes[0])[-1] == ("—" if np.isnan(z) else "100%" if z == 1 else "0%")

    def test_cells_that_are_not_in_the_frame_are_hatched(self):
        axis = figures.agreement_map(agreement(["NB+OFE", "NB+ELR"]).iloc[1:]).axes[0]
        assert [patch.get_hatch() for patch in cells(axis)].count("////") == 1

    @pytest.mark.parametrize(("rows", "columns"), [(25, 6), (25, 9), (18, 6), (2, 1)])
    def test_sizes(self, rows, columns):
        frame = agreement([f"{'NTG'[i // 3]}+L{i % 3}" for i in range(columns)], [f"set {i}" for i in range(rows)])
        figure = figures.agreement_map(frame)
        figure.canvas.draw()
        assert len(cells(figure.axes[0])) == rows * columns
        assert 4 < figure.get_size_inches()[0] <= 7.4


def _luminance(rgba):
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba[:3]]
    return float(np.dot(channels, (0.2126, 0.7152, 0.0722)))


def positions(rows):
    return pd.DataFrame(rows, columns=["dataset", "column", "low", "q05", "q95", "high", "mean", "printed"])


class TestShufflePositions:
    ROWS = (
        ("iris", "NB+OFE", 90.0, 92.0, 95.0, 97.0, 94.0, 93.0),
        ("vote", "NB+OFE", 89.0, 89.0, 91.0, 91.0, 90.0, 92.0),
        ("iris", "NB+ELR", 90.0, 92.0, 95.0, 97.0, 94.0, np.nan),
    )

    def test_lines_and_marks_are_points_above_the_mean(self):
        first, second = figures.shuffle_positions(positions(self.ROWS)).axes
        assert [axis.get_title() for axis in (first, second)] == ["NB+OFE", "NB+ELR"]
        assert segments(first) == [(-4, 3), (-1, 1), (-2, 1), (-1, 1)]  # ranges, then the middle parts
        assert segments(second) == [(-4, 3), (-2, 1)]
        assert marked(first, BLUE) == [(0, 0, "o"), (0, 1, "o")]
        assert marked(first, "#000000") == [(-1, 0, "x")]
        assert marked(first, VERMILLION) == [(2, 1, "X")]
        assert marked(second) == [(0, 0, "o")]
        assert texts(second) == ["no run here"]  # vote
        assert [tick.get_text() for tick in first.get_yticklabels()] == ["iris", "vote"]
        assert first.get_ylim()[0] > first.get_ylim()[1]  # the first data set on top

    def test_what_is_beyond_the_panel_is_an_arrow_with_its_points(self):
        many = [(f"set {i}", "NB+OFE", 89.0, 89.5, 90.5, 91.0, 90.0, 90.2) for i in range(29)]
        figure = figures.shuffle_positions(positions([*many, ("far", "NB+OFE", 89.0, 89.5, 90.5, 91.0, 90.0, 68.0)]))
        (axis,) = figure.axes
        assert axis.get_xlim() == pytest.approx((-1.1, 1.1))
        ((_, row, marker),) = marked(axis, VERMILLION)
        assert (row, marker) == (29, "<")
        assert texts(axis) == ["−22"]
        assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "paper, beyond the panel"

    def test_repetitions_that_never_differ(self):
        (axis,) = figures.shuffle_positions(positions([("corral", "a", *[100.0] * 6)])).axes
        assert marked(axis) == [(0, 0, "o"), (0, 0, "x")]

    def test_nothing_is_known(self):
        figure = figures.shuffle_positions(positions([("iris", "a", *[np.nan] * 6)]))
        figure.canvas.draw()
        assert marked(figure.axes[0]) == []

    def test_twenty_five_rows_and_six_panels(self):
        rows = [(f"set {i}", f"NB+L{j}", *self.ROWS[0][2:]) for i in range(25) for j in range(6)]
        figure = figures.shuffle_positions(positions(rows))
        figure.canvas.draw()
        assert [len(segments(axis)) for axis in figure.axes] == [50] * 6
        assert figure.get_size_inches()[0] <= 7.4


def times(rows):
    return pd.DataFrame(rows, columns=["dataset", "structure", "stopping", "ours", "printed"])


class TestTimes:
    ROWS = (
        ("iris", "naive", "without", 0.1, 2.0),
        ("iris", "naive", "with", 0.5, 20.0),
        ("vote", "naive", "with", 1.0, np.nan),
        ("iris", "tan", "without", 0.2, 0.0),
        ("iris", "tan", "with", 0.4, 40.0),
    )

    def test_dots_and_the_lines_that_join_them(self):
        figure = figures.time_ratio_plot(times(self.ROWS))
        naive, tan = figure.axes
        assert [axis.get_title() for axis in figure.axes] == ["NB", "TAN"]
        assert naive.get_xscale() == "log"
        assert [(x, marker) for x, _, marker in marked(naive, BLUE)] == [(0.1, "o"), (2, "o")]
        assert [(x, marker) for x, _, marker in marked(naive, VERMILLION)] == [(0.5, "s"), (1, "s"), (20, "s")]
        assert segments(naive) == [(0.1, 0.5), (2, 20)]
        assert segments(tan) == [(0.2, 0.4)]
        assert sorted(x for x, *_ in marked(tan)) == [0.2, 0.4, 40]  # a time of 0 has no place

    def test_the_paper_is_hollow_and_below_ours(self):
        naive = figures.time_ratio_plot(times(self.ROWS)).axes[0]
        hollow = {to_hex(line.get_markerfacecolor()) == "#ffffff" for line in naive.lines if 2 in line.get_xdata()}
        filled = {to_hex(line.get_markerfacecolor()) == BLUE for line in naive.lines if 0.1 in line.get_xdata()}
        assert hollow == filled == {True}
        height = {x: y for x, y, _ in marked(naive)}
        assert height[0.1] < height[2]
        assert naive.get_ylim()[0] > naive.get_ylim()[1]

    @pytest.mark.parametrize("rows", [[("iris", "bic", "with", np.nan, np.nan)], [("iris", "tan", "with", 1.0, 1.0)]])
    def test_little_to_show(self, rows):
        figure = figures.time_ratio_plot(times(rows))
        figure.canvas.draw()
        assert segments(figure.axes[0]) == []


@pytest.mark.parametrize(
    ("draw", "empty"),
    [
        (figures.error_scatter, errors([])),
        (figures.agreement_map, agreement([])),
        (figures.shuffle_positions, positions([])),
        (figures.time_ratio_plot, times([])),
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
        assert [figures.pair_label(name) for name in ("elr", "mine", "a+b", "tan+mine")] == [
            "ELR",
            "mine",
            "a+b",
            "TAN+mine",
        ]

    def test_a_pair_has_the_learners_colour_and_the_structures_marker(self):
        pairs = [f"{s}+{learner}" for s in ("naive", "tan", "bic") for learner in ("ofe", "elr", "apn", "em")]
        looks = [figures.look(pair) for pair in pairs]
        assert len({(look["color"], look["marker"]) for look in looks}) == len(pairs)
        assert figures.look("tan+elr") == figures.look("elr") | {"label": "TAN+ELR", "marker": "^"}
        assert figures.look("a+b")["label"] == "a+b"

    def test_the_new_learners_look_different(self):
        names = ["elr", "ofe", "apn", "elr_forced", "elr_converged", "elr_fixed", "selective", "svm_paper",
                 "svm_rbf", "boosting", "forest", "tree"]  # fmt: skip
        looks = [figures.look(name) for name in names]
        assert set(names) <= set(figures.LEARNERS)
        assert len({look["label"] for look in looks}) == len(names)
        assert len({(look["color"], look["marker"]) for look in looks}) == len(names)

    def test_ranks_of_pairs_can_be_drawn(self):
        rng = np.random.default_rng(0)
        scores = pd.DataFrame(rng.random((8, 4)), columns=["naive+ofe", "naive+elr", "tan+ofe", "tan+elr"])
        (axis,) = comparison.critical_difference_diagram(compare_ranks(scores)).axes
        assert {"NB+OFE", "NB+ELR", "TAN+OFE", "TAN+ELR"} <= {t.strip().rsplit(" ", 1)[0] for t in texts(axis)}
