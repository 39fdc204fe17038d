"""The runner: which calls it makes with which seeds, how it cuts them into blocks, and what it makes of their rows."""

import json
import logging

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from marked import same

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
        streams = [np.random.default_rng(s).random() for s in np.random.SeedSequence(5).spawn(3)]
        assert frame["value"].tolist() == streams * 2

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
        same(trials.run(lambda _: rows), pd.DataFrame({"a": [1, 2]}))


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
        assert (options.current_options().results, options.current_options().verify) == (
            "b",
            [1, 0.5],
        )

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"n_jobs": 0}, "n_jobs must be"),
            *[
                ({"engine": wrong}, "engine must be")
                for wrong in ["loca", "", None, 3, "tcp://", "tcp:// 10.0.0.1"]
            ],
        ],
    )
    def test_wrong_settings(self, settings, message):
        with pytest.raises(ValueError, match=message):
            trials.use(**settings)
        with pytest.raises(TypeError, match="n_job"):
            trials.use(n_job=1)
        assert options.current_options() == options.Options()


class TestSeeds:
    @given(st.integers(0, 2**64), KEYS, KEYS)
    def test_one_tree(self, entropy, first, second):
        seeds = Seeds(entropy)
        state = seeds.sequence(*first, *second).generate_state(2).tolist()
        assert seeds.below(*first).sequence(*second).generate_state(2).tolist() == state
        assert seeds.rng(*first, *second).bit_generator.seed_seq.generate_state(2).tolist() == state

    def test_purposes_are_independent(self):
        purposes = [(), (0,), (1,), (1, 10), (1, 20), ("iris",), ("iris", 0), ("glass", 0)]
        states = {
            tuple(Seeds(0, (i,)).sequence(*p).generate_state(2)) for i in range(2) for p in purposes
        }
        assert len(states) == 2 * len(purposes)


works = st.lists(
    st.tuples(st.floats(0, 2 * BLOCK_SECONDS), st.sampled_from("ab")), min_size=1, max_size=40
)


class TestBlocks:
    @given(works)
    def test_cuts(self, cases):
        """All cases in their order, one group a block, which ends as soon as its work or its group does."""
        seconds, groups = zip(*cases, strict=True)
        blocks = [range(len(cases))[piece] for piece in cut(seconds, groups)]
        assert [i for block in blocks for i in block] == list(range(len(cases)))
        for block in blocks:
            assert len({groups[i] for i in block}) == 1
            assert sum(seconds[i] for i in block[:-1]) < BLOCK_SECONDS or len(block) == 1
            end = block[-1] + 1
            assert (
                sum(seconds[i] for i in block) >= BLOCK_SECONDS
                or end == len(cases)
                or groups[end] != groups[end - 1]
            )

    def test_a_block_carries_one_data_set_only(self, monkeypatch):
        blocks = []

        def run_blocks(function, waiting, *_):
            blocks.extend(waiting.values())
            return ((number, function(block)) for number, block in waiting.items())

        monkeypatch.setattr(runner, "run_blocks", run_blocks)
        trials.run(numbered, ["iris", "glass"], n_trials=2)
        assert [{word for _, word in block} for block in blocks] == [{"iris"}, {"glass"}]

    def test_progress(self, tmp_path, monkeypatch):
        path, lines = tmp_path / "progress", []

        def write_text(file, text, encoding):
            lines.append(text)

        monkeypatch.setattr("pathlib.Path.write_text", write_text)
        with trials.use(progress=str(path)):
            trials.run(numbered, ["iris", "wählen", "corral"], n_trials=1, name="ELR")
        assert lines == ["ELR iris 1/3", "ELR wählen 2/3", "ELR corral 3/3"]


class TestNotes:
    DETAILS = {"blocks": 3, "all": 7, "path": "a/b.block", "why": "no\nroom"}  # noqa: RUF012
    DETAILS |= {"experiment": "peers", "names": "iris", "sets": ["iris"], "differences": "code"}
    DETAILS |= {"here": "a", "there": "b"}

    @pytest.mark.parametrize("kind", KINDS)
    def test_logged(self, kind, caplog):
        with caplog.at_level(logging.INFO, "lib.trials"):
            write_note(kind, "ELR", **self.DETAILS)
        [record] = caplog.records
        assert (record.levelno, record.message[:5]) == (KINDS[kind][0], "ELR: ")

    def test_lines_of_a_file(self, tmp_path, caplog):
        with trials.use(notes=str(tmp_path / "notes")):
            write_note("found", "wählen", blocks=3, all=7)
            write_note("not stored", "ELR", why="no\nroom")
        first, second = map(
            json.loads, (tmp_path / "notes").read_text(encoding="utf-8").splitlines()
        )
        message = "wählen: 3 of 7 blocks found, not run again"
        assert first == {"kind": "found", "message": message, "blocks": 3, "all": 7}
        assert second["why"] == "no\nroom"
        assert not caplog.records
