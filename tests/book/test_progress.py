"""What is said of a chapter while it runs."""

import pytest

from lib.book.run.progress import Progress

ALONE = "curves = trials.run(learning_curves, cases, n_trials=9)"
TWICE = "first = trials.run(errors, cases)\nsecond = trials.run(errors, cases, name='more errors')"
IN_A_LOOP = "for k in (2, 3):\n    trials.run(errors, [k])"
IN_A_FUNCTION = "def curves(k):\n    return trials.run(errors, [k])"
OTHER = "%matplotlib inline\nimport seaborn as sns"


def progress_of(*sources):
    cells = [{"cell_type": "markdown", "source": "# Title\n\nText."}]
    cells += [{"cell_type": "code", "source": source} for source in sources]
    progress = Progress(cells)
    progress.start_cell("markdown", "# Title\n\nText.\n\n## Five hidden values\n\nMore.")
    return progress


def test_an_experiment_has_its_number_and_name():
    progress = progress_of(ALONE, OTHER, TWICE)
    progress.start_cell("code", ALONE)
    assert progress.words("") == "section “Five hidden values”"
    first = "experiment 1 of 3: learning curves, 1 of 40 blocks"
    assert progress.words("learning curves 1/40") == first
    assert progress.words("learning curves 40/40").startswith("experiment 1 of 3: ")
    progress.start_cell("code", OTHER)
    progress.start_cell("code", TWICE)
    assert progress.words("errors iris 5/9") == "experiment 2 of 3: errors iris, 5 of 9 blocks"
    assert progress.words("more errors 2/9") == "experiment 3 of 3: more errors, 2 of 9 blocks"


def test_an_experiment_whose_blocks_were_stored_is_counted():
    """Nothing is seen of it, as none of its blocks runs."""
    progress = progress_of(ALONE, TWICE, ALONE)
    for source in (ALONE, TWICE, ALONE):
        progress.start_cell("code", source)
    assert progress.words("learning curves 1/2").startswith("experiment 4 of 4: ")


@pytest.mark.parametrize("source", [IN_A_LOOP, IN_A_FUNCTION])
def test_how_many_there_are_is_not_said_where_the_cells_do_not_show_it(source):
    progress = progress_of(ALONE, source)
    progress.start_cell("code", source)
    assert progress.words("errors 1/9") == "experiment 1: errors, 1 of 9 blocks"
    assert progress.words("errors 1/8") == "experiment 2: errors, 1 of 8 blocks"


def test_an_experiment_of_lib_is_not_in_the_number_of_all():
    progress = progress_of(OTHER, ALONE)
    progress.start_cell("code", OTHER)
    assert progress.words("learning curves 1/9").startswith("experiment 1: ")
    progress.start_cell("code", ALONE)
    assert progress.words("learning curves 1/9").startswith("experiment 2: ")
