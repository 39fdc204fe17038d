"""Pictures of comparisons: what is drawn is what the data say."""

import itertools

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from lib.colour import contrast
from lib.evaluation import compare_ranks
from lib.figures import comparison, heatmap, look


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def words(texts):
    return [text.get_text() for text in texts]


@pytest.mark.parametrize("k", [3, 5])
def test_the_critical_difference_diagram_has_names_ranks_and_bars(k):
    scores = {"winnow": [0.9, 0.8, 0.7, 0.9], "tree": [0.8, 0.7, 0.6, 0.95], "mine": [0.1, 0.2, 0.3, 0.1]}
    scores |= {"forest": [0.5, 0.6, 0.5, 0.4], "logistic": [0.3, 0.3, 0.4, 0.2]}
    ranks = compare_ranks(pd.DataFrame(scores).iloc[:, :k])
    (axis,) = comparison.critical_difference_diagram(ranks).axes
    labels = [f"{look(name)['label']} {rank:.2f}" for name, rank in ranks.ranks.items()]
    ticks = map(str, range(1, k + 1))
    assert sorted(t.strip() for t in words(axis.texts)) == sorted([*ticks, *labels, "critical difference"])
    assert axis.get_xlim()[0] > axis.get_xlim()[1]  # the best on the right
    level = [line.get_xydata() for line in axis.lines if len(line.get_xdata()) == 2 and np.ptp(line.get_ydata()) == 0]
    (difference,) = [np.ptp(line[:, 0]) for line in level if line[0, 1] > 1]
    assert difference == pytest.approx(ranks.critical_difference)
    bars = [sorted(line[:, 0]) for line in level if line[0, 1] < 0]
    ends = [(ranks.ranks[group[0]] - 0.06, ranks.ranks[group[-1]] + 0.06) for group in ranks.groups]
    np.testing.assert_allclose(bars, ends)


def test_differences_are_drawn_with_their_intervals_and_coloured_by_them():
    rows = [("iris", "A − B", 1.0, 0.5, 1.5), ("vote", "A − B", -2.0, -3.0, -1.0), ("iris", "A − C", 0.1, -1.0, 1.2)]
    figure = comparison.differences_by_dataset(
        pd.DataFrame(rows, columns=["dataset", "pair", "value", "low", "high"]), "points"
    )
    first, second = figure.axes
    assert [axis.get_title() for axis in figure.axes] == ["A − B", "A − C"]
    assert words(first.get_yticklabels()) == ["iris", "vote"]
    assert first.get_ylim()[0] > first.get_ylim()[1]  # the first set above
    np.testing.assert_allclose(first.collections[0].get_offsets(), [(1.0, 0), (-2.0, 1)])
    intervals = [first.collections[1], second.collections[1]]
    ends = [[list(segment[:, 0]) for segment in lines.get_segments()] for lines in intervals]
    assert ends == [[[0.5, 1.5], [-3.0, -1.0]], [[-1.0, 1.2]]]
    colours = [[to_hex(colour) for colour in lines.get_color()] for lines in intervals]
    assert colours == [["#0072b2", "#d55e00"], ["#7f7f7f"]]  # above 0, below 0, neither


@pytest.mark.parametrize("sets_down", [False, True])
def test_the_accuracy_map_shows_the_best_in_bold(sets_down):
    table = pd.DataFrame({"winnow": [0.9, 0.5], "tree": [0.8, 0.75], "mine": [0.9, 0.7]}, index=["iris", "vote"])
    axis = comparison.accuracy_map(table, "below the best", sets_down).axes[0]
    names, learners = ["iris", "vote"], ["Winnow", "Decision tree", "mine"]
    across, down = (learners, names) if sets_down else (names, learners)
    assert words(axis.get_xticklabels()) == across
    assert words(axis.get_yticklabels()) == down
    written = {text.get_position(): (text.get_text(), text.get_fontweight()) for text in axis.texts}
    for (j, dataset), (i, learner) in itertools.product(enumerate(table.index), enumerate(table.columns)):
        value, best = table.loc[dataset, learner], table.loc[dataset].max()
        place = (i + 0.5, j + 0.5) if sets_down else (j + 0.5, i + 0.5)
        assert written[place] == (f"{100 * value:.1f}", "bold" if value == best else "normal")


def test_words_of_a_heatmap_stand_out_and_keep_their_colours():
    values = np.array([[0.0, 0.3, np.nan], [0.6, 0.8, 1.0]])
    axis = heatmap(pd.DataFrame(values), True, plt.subplots()[1], fmt=".1f", cmap="viridis", vmin=0, vmax=1)
    assert words(axis.texts) == ["0.0", "0.3", "0.6", "0.8", "1.0"]
    cells = plt.get_cmap("viridis")(values[~np.isnan(values)])
    assert all(contrast(text.get_color(), cell) > 4.5 for text, cell in zip(axis.texts, cells, strict=True))
    assert all(artist.get_gid().startswith("fixed-") for artist in [*axis.texts, *axis.collections])
