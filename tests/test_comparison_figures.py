"""Pictures of comparisons and of Winnow2's experiments: what is drawn is what the data say."""

import itertools

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

from lib import datasets
from lib.evaluation import compare_ranks
from lib.experiments import winnow_steps
from lib.figures import comparison, look, winnow2


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def texts(axis):
    return [text.get_text() for text in axis.texts]


def points(axis, marker):
    """The points of all lines with a marker."""
    return [tuple(line.get_xydata()[0]) for line in axis.lines if line.get_marker() == marker and len(line.get_xdata())]


def visible(figure):
    figure.canvas.draw()
    return [axis for axis in figure.axes if axis.axison]


class TestCriticalDifference:
    SCORES = pd.DataFrame(
        {"winnow": [0.9, 0.8, 0.7, 0.9], "tree": [0.8, 0.7, 0.6, 0.95], "mine": [0.1, 0.2, 0.3, 0.1]},
        index=list("wxyz"),
    ).assign(forest=[0.5, 0.6, 0.5, 0.4], logistic=[0.3, 0.3, 0.4, 0.2])

    @pytest.mark.parametrize("columns", [["winnow", "tree", "mine"], ["winnow", "tree", "forest", "logistic", "mine"]])
    def test_names_ranks_and_ticks(self, columns):
        ranks = compare_ranks(self.SCORES[columns])
        (axis,) = comparison.critical_difference_diagram(ranks).axes
        k = len(columns)
        labels = [f"{look(name)['label']} {rank:.2f}" for name, rank in ranks.ranks.items()]
        assert sorted(t.strip() for t in texts(axis)) == sorted([*map(str, range(1, k + 1)), *labels, CD])
        for name, rank in ranks.ranks.items():
            assert (pytest.approx(rank), 0) in points(axis, look(name)["marker"])
        assert axis.get_xlim()[0] > axis.get_xlim()[1]  # the best on the right
        heights = [t.get_position()[1] for t in axis.texts if t.get_position()[1] < 0]
        sides = [t.get_ha() for t in axis.texts if t.get_position()[1] < 0]
        assert len(heights) == k
        assert all(len(set(part)) == len(part) for part in side_by_side(heights, sides))

    def test_bars_are_as_long_as_their_groups_and_the_difference(self):
        ranks = compare_ranks(self.SCORES)
        (axis,) = comparison.critical_difference_diagram(ranks).axes
        level = [line for line in axis.lines if len(line.get_xdata()) == 2 and len(set(line.get_ydata())) == 1]
        difference = [line for line in level if line.get_ydata()[0] > 1]
        assert len(difference) == 1
        assert abs(np.subtract(*difference[0].get_xdata())) == pytest.approx(ranks.critical_difference)
        bars = [sorted(line.get_xdata()) for line in level if line.get_ydata()[0] < 0]
        assert len(bars) == len(ranks.groups) >= 1
        for bar, group in zip(bars, ranks.groups, strict=True):
            assert bar == pytest.approx([ranks.ranks[group[0]] - 0.06, ranks.ranks[group[-1]] + 0.06])


CD = "critical difference"


def side_by_side(heights, sides):
    return [[h for h, s in zip(heights, sides, strict=True) if s == side] for side in set(sides)]


def test_differences_are_drawn_with_their_intervals_and_coloured_by_them():
    rows = [("iris", "A − B", 1.0, 0.5, 1.5), ("vote", "A − B", -2.0, -3.0, -1.0), ("iris", "A − C", 0.1, -1.0, 1.2)]
    table = pd.DataFrame(rows, columns=["dataset", "pair", "value", "low", "high"])
    figure = comparison.differences_by_dataset(table, "points")
    assert [axis.get_title() for axis in figure.axes] == ["A − B", "A − C"]
    first, second = figure.axes
    assert [t.get_text() for t in first.get_yticklabels()] == ["iris", "vote"]
    height = dict(zip(["iris", "vote"], first.get_yticks(), strict=True))
    assert height["iris"] > height["vote"]
    assert points(first, "o") == [(1.0, height["iris"]), (-2.0, height["vote"])]
    assert (0.1, height["iris"]) in points(second, "o")
    intervals = [line for line in first.lines if line.get_linewidth() == 2]
    assert [list(line.get_xdata()) for line in intervals] == [[0.5, 1.5], [-3.0, -1.0]]
    colors = [to_hex(line.get_color()) for line in (*intervals, second.lines[0])]
    assert colors == ["#0072b2", "#d55e00", "#7f7f7f"]  # above 0, below 0, neither
    assert {axis.get_xlabel() for axis in figure.axes} == {"points"}


def test_the_accuracy_map_shows_the_best_in_bold():
    table = pd.DataFrame({"winnow": [0.9, 0.5], "tree": [0.8, 0.75], "mine": [0.9, 0.7]}, index=["iris", "vote"])
    axis = comparison.accuracy_map(table, "below the best").axes[0]
    written = {text.get_position(): (text.get_text(), text.get_fontweight()) for text in axis.texts}
    for (j, dataset), (i, learner) in itertools.product(enumerate(table.index), enumerate(table.columns)):
        value = table.loc[dataset, learner]
        weight = "bold" if value == table.loc[dataset].max() else "normal"
        assert written[j, i] == (f"{100 * value:.1f}", weight)
    assert [t.get_text() for t in axis.get_xticklabels()] == ["iris", "vote"]
    assert [t.get_text() for t in axis.get_yticklabels()] == ["Winnow", "Decision tree", "mine"]
    np.testing.assert_allclose(axis.images[0].get_array(), [[0, 25], [10, 0], [0, 5]])
    dark = {text.get_text() for text in axis.texts if text.get_color() == "white"}
    assert dark == {"50.0"}


class TestWeightsByStep:
    def test_bars_weights_and_threshold(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 2, (20, 5)).astype(np.uint8)
        frame, weights = winnow_steps(X, X[:, 1], threshold=3.0)
        names = ["x1", "x2*", "x3", "x4", "x5"]
        top, *panels = winnow2.weights_by_step(frame, weights, names, threshold=3.0).axes
        bars = [path.vertices for c in top.collections if isinstance(c, LineCollection) for path in c.get_paths()]
        drawn = sorted((bar[1][0], bar[1][1]) for bar in bars)
        np.testing.assert_allclose(drawn, frame[["step", "z"]])
        assert len({tuple(c.get_color()[0]) for c in top.collections if isinstance(c, LineCollection)}) == 3
        assert [line.get_ydata()[0] for line in top.lines] == [3.0]
        assert {t.get_text() for t in top.get_legend().get_texts()} == {"promotion", "demotion", "none"}
        assert [axis.get_title() for axis in panels] == names
        for i, axis in enumerate(panels):
            np.testing.assert_array_equal(axis.lines[0].get_ydata(), weights[:, i])
        colors = [to_hex(axis.lines[0].get_color()) for axis in panels]
        assert colors[1] not in {colors[0], *colors[2:]}

    def test_more_attributes_than_fit_a_row(self):
        X = np.eye(9, dtype=np.uint8)
        names = [f"x{i}" for i in range(9)]
        assert len(winnow2.weights_by_step(*winnow_steps(X, np.ones(9, int)), names, threshold=4.5).axes) == 10


@pytest.fixture
def growth():
    """Winnow's mistakes at the end are n / 10 + run, the perceptron's ten times as many."""
    rows = [
        (n, kind, run, learner, end, (n // 10 + run) * (10 if learner == "perceptron" else 1) * end // 200)
        for n in (100, 1000)
        for kind in ("dense", "sparse")
        for run in range(3)
        for end in (100, 200)
        for learner in ("winnow", "perceptron")
    ]
    return pd.DataFrame(rows, columns=["n_attributes", "inputs", "run", "learner", "n_examples", "mistakes"])


class TestMistakes:
    def test_by_attributes(self, growth):
        figure = winnow2.mistakes_by_attributes(growth, {100: 300, 1000: 400}, {100: 20, 1000: 30})
        assert [axis.get_title() for axis in figure.axes] == ["dense inputs", "sparse inputs"]
        for axis in figure.axes:
            assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
            lines = {line.get_label(): line for line in axis.lines}
            np.testing.assert_array_equal(lines["Winnow"].get_xydata(), [(100, 11), (1000, 101)])
            np.testing.assert_array_equal(lines["Perceptron"].get_xydata(), [(100, 110), (1000, 1010)])
            np.testing.assert_array_equal(lines["Theorem 1"].get_xydata(), [(100, 300), (1000, 400)])
            np.testing.assert_array_equal(lines["adversary"].get_xydata(), [(100, 20), (1000, 30)])
            runs = [line for line in axis.lines if line.get_linestyle() == "None"]
            assert sorted(map(tuple, runs[0].get_xydata())) == [(n, n / 10 + r) for n in (100, 1000) for r in range(3)]
        (legend,) = figure.legends
        assert len(legend.get_texts()) == 4
        assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == ["10", "30", "100", "300", "1,000"]

    def test_over_time(self, growth):
        figure = winnow2.mistakes_over_time(growth, 1000)
        assert [axis.get_title() for axis in figure.axes] == ["n = 1,000, dense", "n = 1,000, sparse"]
        for axis in figure.axes:
            drawn = sorted(tuple(line.get_ydata()) for line in axis.lines)
            assert drawn == [(50, 100), (50, 101), (51, 102), (500, 1000), (505, 1010), (510, 1020)]
            assert {tuple(line.get_xdata()) for line in axis.lines} == {(100, 200)}
        assert sorted(t.get_text() for t in figure.axes[0].get_legend().get_texts()) == ["Perceptron", "Winnow"]


def wide(line):
    """Whether it is as wide as a box, and not a cap of a whisker."""
    return np.ptp(line.get_ydata()) > 0.6


def test_error_over_time_is_the_mean_with_its_interval():
    rows = [
        (run, part, "winnow", end, e)
        for run, errors in enumerate([(0.1, 0.4), (0.3, 0.4)])
        for part, end, e in zip(("before", "after"), (25, 50), errors, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["run", "part", "learner", "n_examples", "error"])
    (axis,) = winnow2.error_over_time(frame).axes
    mean, change = axis.lines
    np.testing.assert_allclose(mean.get_xydata(), [(25, 0.2), (50, 0.4)])
    assert set(change.get_xdata()) == {25}
    ends = axis.collections[0].get_paths()[0].vertices
    assert ends[ends[:, 0] == 25][:, 1].min() == pytest.approx(0.2 - 1.96 * 0.1)
    assert ends[ends[:, 0] == 25][:, 1].max() == pytest.approx(0.2 + 1.96 * 0.1)
    np.testing.assert_allclose(ends[ends[:, 0] == 50][:, 1], 0.4)


def test_accuracy_by_added_is_the_mean_of_repeats_with_their_range():
    rows = [
        (repeat, fold, n, learner, 0.5 + 0.1 * repeat + 0.01 * fold - n / 10_000)
        for repeat, fold, n in itertools.product(range(3), (-1, 1), (1000, 0, 10))
        for learner in ("winnow", "perceptron")
    ]
    frame = pd.DataFrame(rows, columns=["repeat", "fold", "n_added", "learner", "accuracy"])
    figure = winnow2.accuracy_by_added(frame)
    (axis,) = figure.axes
    assert [t.get_text() for t in axis.get_xticklabels()] == ["0", "10", "1,000"]
    assert [c.get_label() for c in axis.containers] == ["Winnow", "Perceptron"]
    line, _, (bars,) = axis.containers[0].lines
    np.testing.assert_allclose(line.get_xydata(), [(0, 0.6), (1, 0.599), (2, 0.5)])
    np.testing.assert_allclose([bar[:, 1] for bar in bars.get_segments()], [(0.5, 0.7), (0.499, 0.699), (0.4, 0.6)])
    assert len(figure.legends[0].get_texts()) == 2


class TestBoxes:
    def test_a_box_a_class_and_a_line_a_cut(self):
        iris = datasets.load("iris")
        axes = winnow2.boxes_by_class(iris, {"petal_length": [2.0, 5.0]}).axes
        assert [axis.get_title() for axis in axes] == ["sepal length", "sepal width", "petal length", "petal width"]
        for axis, name in zip(axes, iris.X, strict=True):
            assert len(axis.patches) == 3
            lines = [line for line in axis.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 2]
            medians = [line.get_xdata()[0] for line in lines if np.ptp(line.get_xdata()) == 0 and wide(line)]
            np.testing.assert_allclose(medians, iris.X[name].groupby(iris.y).median())
            cuts = [line.get_xdata()[0] for line in axis.lines if line.get_linestyle() == "--"]
            assert cuts == ([2.0, 5.0] if name == "petal_length" else [])
        assert [t.get_text() for t in axes[0].get_yticklabels()] == ["setosa", "versicolor", "virginica"]

    def test_empty_panels_are_not_shown(self):
        figure = winnow2.boxes_by_class(datasets.load("glass"), columns=2)
        assert len(figure.axes) == 10
        assert len(visible(figure)) == 9
        assert not any(line.get_linestyle() == "--" for axis in figure.axes for line in axis.lines)


class TestConfusionTables:
    CLASSES = ("Iris-setosa", "Iris-virginica")

    def test_counts_are_written_where_they_belong(self):
        whole, mean = np.array([[9.0, 1.0], [0.0, 20.0]]), np.array([[9.25, 0.0], [0.75, 20.0]])
        ranged = (mean, mean.round() - [[1, 0], [1, 2]], mean.round() + [[1, 0], [1, 2]])
        figure = winnow2.confusion_tables({"winnow": {"printed": whole, "mean": ranged}}, self.CLASSES)
        first, second = figure.axes
        assert {t.get_position(): t.get_text() for t in first.texts} == {(0, 0): "9", (1, 0): "1", (1, 1): "20"}
        cells = {}
        for text in second.texts:  # the mean above, the range below
            x, y = text.get_position()
            cells.setdefault((x, round(y)), []).append(text.get_text())
        assert cells == {(0, 0): ["9.2", "8–10"], (0, 1): ["0.8", "0–2"], (1, 1): ["20.0", "18–22"]}
        np.testing.assert_allclose(first.images[0].get_array(), [[1, 1 / 21], [0, 20 / 21]])
        assert first.get_title() == "Winnow\nprinted"
        assert second.get_title() == "\nmean"
        assert (first.get_ylabel(), first.get_xlabel(), second.get_xlabel()) == ("predicted", "actual", "actual")
        assert [t.get_text() for t in first.get_xticklabels()] == ["setosa", "virginica"]

    def test_a_class_that_does_not_occur_and_a_table_that_is_not_printed(self):
        tables = {"winnow": {"printed": None, "ours": np.array([[3.0, 0.0], [1.0, 0.0]])}}
        tables["tree"] = {"printed": np.eye(2), "ours": np.eye(2)}
        figure = winnow2.confusion_tables(tables, self.CLASSES)
        assert texts(figure.axes[0]) == ["not printed"]
        assert len(visible(figure)) == 3
        assert np.isfinite(figure.axes[1].images[0].get_array()).all()


class TestDistributions:
    def test_folds_mean_and_printed_accuracy(self):
        rows = [("iris", "winnow", a) for a in (0.9, 0.9, 0.9, 1.0)] + [("iris", "tree", 0.7), ("vote", "winnow", 0.8)]
        frame = pd.DataFrame([*rows, ("vote", "tree", 0.6)], columns=["dataset", "learner", "accuracy"])
        printed = pd.DataFrame({"dataset": ["iris"], "learner": ["winnow"], "n_correct": [29], "n_test": [30]})
        figure = winnow2.accuracy_distributions(frame, printed)
        iris, vote = figure.axes
        assert [axis.get_title(loc="left") for axis in figure.axes] == ["iris", "vote"]
        assert [t.get_text() for t in iris.get_yticklabels()] == ["Decision tree", "Winnow"]
        assert points(iris, "D") == [(pytest.approx(29 / 30), 1)]
        assert points(vote, "D") == []
        np.testing.assert_allclose(sorted(points(iris, "|")), [(0.7, 0), (0.925, 1)])
        tree, winnow, *_ = [c for c in iris.collections if isinstance(c, PathCollection)]
        np.testing.assert_allclose(tree.get_offsets(), [(0.7, 0)])
        np.testing.assert_allclose(winnow.get_offsets(), [(0.9, 1), (1.0, 1)])
        three, one = winnow.get_sizes()
        assert three == pytest.approx(3 * one)
        assert [t.get_text() for t in figure.legends[0].get_texts()][1:] == ["our mean", "printed"]


def test_the_settings_map_writes_mean_percentages():
    settings = itertools.product(("iris", "vote"), (0, 1), (0.25, 1.0), (1.1, 2.0), (1, 5))
    rows = [
        (d, r, t, p, n, 0.3 + 0.1 * r + 0.2 * t + 0.05 * p + 0.01 * n + 0.1 * (d == "vote"))
        for d, r, t, p, n in settings
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "repeat", "theta", "promotion", "n_passes", "accuracy"])
    figure = winnow2.settings_map(frame)
    axes = np.reshape(figure.axes, (2, 2))
    assert [axis.get_title() for axis in axes[0]] == ["iris", "vote"]
    assert [axis.get_ylabel() for axis in axes[:, 0]] == ["1 pass\nθ / weights", "5 passes\nθ / weights"]
    for (row, column), axis in np.ndenumerate(axes):
        part = frame[(frame["dataset"] == ("iris", "vote")[column]) & (frame["n_passes"] == (1, 5)[row])]
        written = {text.get_position(): text.get_text() for text in axis.texts}
        for (i, theta), (j, promotion) in itertools.product(enumerate((0.25, 1.0)), enumerate((1.1, 2.0))):
            mean = part[(part["theta"] == theta) & (part["promotion"] == promotion)]["accuracy"].mean()
            assert written[j, i] == f"{100 * mean:.0f}"
        assert axis.get_ylim() == (-0.5, 1.5)  # theta rises upwards
    assert [t.get_text() for t in axes[1, 0].get_xticklabels()] == ["1.1", "2"]
    assert [t.get_text() for t in axes[1, 0].get_yticklabels()] == ["0.25", "1"]
