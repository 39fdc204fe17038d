"""The runner: its calls and their seeds, their blocks, the frame of their rows."""

import itertools
import json
import logging

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logged_trials import assert_same

from lib import trials
from lib.trials import Seeds, options, runner
from lib.trials.notes import KINDS, write_note
from lib.trials.runner import BLOCK_SECONDS, cut

KEYS = st.lists(st.one_of(st.integers(0, 2**32 - 1), st.text(max_size=5)), max_size=3)


def numbered(seeds, *case):
    return {"trial": seeds.number, "case": "-".join(map(str, case)), "value": seeds.rng().random()}


class TestRun:
    def test_cases_and_trials(self):
        frame = trials.run(numbered, ["a", ("b", 1)], n_trials=3, seed=5)
        assert frame["case"].tolist() == ["a"] * 3 + ["b-1"] * 3
        assert frame["trial"].tolist() == [0, 1, 2] * 2
        # both cases have the same seeds, in the way that numpy documents for independent streams
        sequences = np.random.SeedSequence(5).spawn(3)
        values = [np.random.default_rng(sequence).random() for sequence in sequences]
        assert frame["value"].tolist() == values * 2

    def test_without_a_number_of_trials_all_cases_have_the_same_seeds(self):
        frame = trials.run(lambda seeds, word: {"key": str(seeds.key), "word": word}, ["a", "b"])
        assert frame.to_dict("list") == {"key": ["()", "()"], "word": ["a", "b"]}

    @pytest.mark.parametrize(
        "rows",
        [
            [{"a": 1}, {"a": 2}],
            iter([{"a": 1}, {"a": 2}]),
            pd.DataFrame({"a": [1, 2]}, index=[7, 7]),
        ],
    )
    def test_what_a_trial_may_return(self, rows):
        assert_same(trials.run(lambda _: rows), pd.DataFrame({"a": [1, 2]}))


class TestOptions:
    def test_use(self):
        assert options.current_options() == options.Options()
        with trials.use(n_jobs=3, results="a"):
            trials.use(engine="tcp://10.0.0.1:8786")
            assert options.current_options() == options.Options(3, "tcp://10.0.0.1:8786", "a")
        assert options.current_options() == options.Options()

    def test_variables(self, monkeypatch):
        monkeypatch.setenv("BOOK_RESULTS", "a")
        assert options.current_options().results == "a"
        monkeypatch.setenv("BOOK_TRIALS", '{"results": "b", "verify": [1, 0.5]}')
        assert options.current_options().results == "b"
        assert options.current_options().verify == [1, 0.5]

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_jobs", 0),
            ("engine", "loca"),
            ("engine", ""),
            ("engine", None),
            ("engine", 3),
            ("engine", "tcp://"),
            ("engine", "tcp:// 10.0.0.1"),
        ],
    )
    def test_wrong_settings(self, name, value):
        with pytest.raises(ValueError, match=f"{name} must be"):
            trials.use(**{name: value})
        with pytest.raises(TypeError, match="n_job"):
            trials.use(n_job=1)
        assert options.current_options() == options.Options()


class TestSeeds:
    @given(st.integers(0, 2**64), KEYS, KEYS)
    def test_one_tree(self, entropy, first, second):
        def state(sequence):
            return sequence.generate_state(2).tolist()

        # two steps down the tree are one step with both keys, and so is a generator
        seeds = Seeds(entropy)
        both = state(seeds.sequence(*first, *second))
        assert state(seeds.below(*first).sequence(*second)) == both
        assert state(seeds.rng(*first, *second).bit_generator.seed_seq) == both

    def test_purposes_are_independent(self):
        purposes = [(), (0,), (1,), (1, 10), (1, 20), ("iris",), ("iris", 0), ("glass", 0)]
        states = set()
        for trial in range(2):
            for purpose in purposes:
                sequence = Seeds(0, (trial,)).sequence(*purpose)
                states.add(tuple(sequence.generate_state(2)))
        assert len(states) == 2 * len(purposes)


works = st.lists(
    st.tuples(st.floats(0, 2 * BLOCK_SECONDS), st.sampled_from("ab")), min_size=1, max_size=40
)


class TestBlocks:
    @given(works)
    def test_cuts(self, cases):
        """Cases keep their order; a block ends once its work is enough, or its group ends."""
        seconds, groups = zip(*cases, strict=True)
        blocks = [range(len(cases))[piece] for piece in cut(seconds, groups)]
        assert list(itertools.chain(*blocks)) == list(range(len(cases)))
        for block in blocks:
            assert len({groups[i] for i in block}) == 1
            # no longer than it must be
            assert sum(seconds[i] for i in block[:-1]) < BLOCK_SECONDS or len(block) == 1
            # no shorter than it may be
            end = block[-1] + 1
            group_ends = end == len(cases) or groups[end] != groups[end - 1]
            assert sum(seconds[i] for i in block) >= BLOCK_SECONDS or group_ends

    def test_a_block_carries_one_data_set_only(self, monkeypatch):
        blocks = []

        def run_blocks(function, waiting, *_):
            blocks.extend(waiting.values())
            return ((number, function(block)) for number, block in waiting.items())

        monkeypatch.setattr(runner, "run_blocks", run_blocks)
        trials.run(numbered, ["iris", "glass"], n_trials=2)
        assert [{word for _, word in block} for block in blocks] == [{"iris"}, {"glass"}]

    def test_progress(self, tmp_path, monkeypatch):
        path = tmp_path / "progress"
        lines = []

        def write_text(file, text, encoding):
            lines.append(text)

        monkeypatch.setattr("pathlib.Path.write_text", write_text)
        with trials.use(progress=str(path)):
            trials.run(numbered, ["iris", "wählen", "corral"], n_trials=1, name="ELR")
        assert lines == ["ELR iris 1/3", "ELR wählen 2/3", "ELR corral 3/3"]


class TestNotes:
    # what the message of any kind may name
    DETAILS = {  # noqa: RUF012
        "blocks": 3,
        "all": 7,
        "path": "a/b.block",
        "why": "no\nroom",
        "experiment": "peers",
        "names": "iris",
        "sets": ["iris"],
        "differences": "code",
        "here": "a",
        "there": "b",
    }

    @pytest.mark.parametrize("kind", KINDS)
    def test_logged(self, kind, caplog):
        with caplog.at_level(logging.INFO, "lib.trials"):
            write_note(kind, "ELR", **self.DETAILS)
        [message] = caplog.records
        assert message.levelno == KINDS[kind][0]
        assert message.message.startswith("ELR: ")

    def test_lines_of_a_file(self, tmp_path, caplog):
        with trials.use(notes=str(tmp_path / "notes")):
            write_note("found", "wählen", blocks=3, all=7)
            write_note("not stored", "ELR", why="no\nroom")
        lines = (tmp_path / "notes").read_text(encoding="utf-8").splitlines()
        first, second = [json.loads(line) for line in lines]
        message = "wählen: 3 of 7 blocks found, not run again"
        assert first == {"kind": "found", "message": message, "blocks": 3, "all": 7}
        assert second["why"] == "no\nroom"
        assert not caplog.records
