"""Conditional likelihood of Appendix A: logistic regression, the gradient, maxima and formulas."""

import math
import re

import matplotlib

matplotlib.use("agg")

import bayes_net_reference as reference
import matplotlib.pyplot as plt
import numpy as np
import pytest

from lib.bayes_net import Cases, Network
from lib.experiments import elr_likelihood as likelihood
from lib.experiments.satisfiability import UNSATISFIABLE_BOUND, reduction, satisfying_assignment
from lib.figures import elr as pictures

CHAIN = ((), (0,), (1,))
FORMULAS = {
    "3 variables, 2 clauses": ((1, 2, 3), (-1, 2, 3)),
    "3 variables, 8 clauses": likelihood.unsatisfiable_formula(),
}


@pytest.fixture(scope="module")
def optima():
    return likelihood.random_optima(n_starts=3, seed=1, n_rows=60, n_attributes=3)


@pytest.fixture(scope="module")
def frame():
    return likelihood.two_objectives(["made-2", "made-3", "glass2"], seed=1)


class TestTwoObjectives:
    def test_elr_is_logistic_regression(self, frame):
        assert frame["finite"].all()
        assert frame["n_classes"].tolist() == [2, 3, 2]
        assert (abs(frame["difference"]) < 1e-8).all()
        assert (frame["largest"] < 1e-5).all()

    def test_each_learner_is_best_at_its_own(self, frame):
        assert (frame["conditional_elr"] > frame["conditional_ofe"]).all()
        assert (frame["joint_elr"] < frame["joint_ofe"]).all()
        assert (frame["joint_elr"] < frame["conditional_elr"]).all()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"datasets": []}, "datasets must hold at least one value; got none"),
            ({"datasets": ["made-2"], "cuts": "mean"}, "cuts must be one of"),
            ({"datasets": ["irsi"]}, "did you mean 'iris'"),
            ({"datasets": ["made-1"]}, "datasets must hold .* 'made-k', k from 2 to 9; got 'made-1'"),
            ({"datasets": ["made-10"]}, "got 'made-10'"),
            ({"datasets": ["made-2"], "seed": -1}, "seed must be .* got -1"),
        ],
    )
    def test_errors(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            likelihood.two_objectives(**arguments)

    def test_made_rows_are_those_of_the_seed(self):
        codes, sizes = likelihood.made_rows(3, seed=5)
        assert codes.max(axis=0).tolist() == (sizes - 1).tolist()
        np.testing.assert_array_equal(codes, likelihood.made_rows(3, seed=5)[0])
        assert (codes != likelihood.made_rows(3, seed=6)[0]).any()


class TestHasMaximum:
    def test_of_overlapping_classes(self):
        assert likelihood.has_maximum(np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), [2, 2])

    def test_not_of_separated_ones(self):
        assert not likelihood.has_maximum(np.array([[0, 0], [1, 1]]), [2, 2])

    def test_not_of_a_value_with_one_class_only(self):
        assert not likelihood.has_maximum(np.array([[0, 0], [1, 0], [1, 1]]), [2, 2])
        three = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1]])
        assert not likelihood.has_maximum(three, [3, 2])
        assert likelihood.has_maximum(np.vstack([three, [2, 1]]), [3, 2])


class TestGauges:
    def test_posteriors(self):
        tables, finite = likelihood.gauge_posteriors(seed=2)
        assert finite
        assert list(tables) == ["truth", "ofe", "elr", "logistic"]
        np.testing.assert_allclose(tables["elr"], tables["logistic"], atol=1e-5)
        assert abs(tables["elr"] - tables["truth"]).max() < abs(tables["ofe"] - tables["truth"]).max()

    def test_the_second_adds_nothing(self):
        codes, truth = likelihood.gauges(200_000, np.random.default_rng(0))
        assert abs(codes[:, 1] - codes[:, 2]).max() == 1
        for second in (2, 3, 4):
            found = codes[(codes[:, 1] == 3) & (codes[:, 2] == second), 0]
            assert found.mean() == pytest.approx(truth[3, second], abs=4 * 0.5 / math.sqrt(len(found)))


class TestGradient:
    @pytest.mark.parametrize("parents", [CHAIN, ((1, 2), (), (1,))])
    def test_enumerated_likelihood_by_definition(self, parents):
        rng, sizes = np.random.default_rng(0), (2, 3, 2)
        network = Network(parents, sizes)
        betas = rng.standard_normal((2, network.n_parameters))
        codes = np.array([[0, 1, 1], [1, -1, 0], [0, 2, -1], [1, -1, -1]])
        for beta, found in zip(betas, likelihood.enumerated_conditional(network, codes, betas), strict=True):
            tables = reference.softmax(beta, parents, sizes)
            posteriors = [reference.posterior(parents, tables, tuple(row))[row[0]] for row in codes.tolist()]
            assert found == pytest.approx(np.log(posteriors).mean(), rel=1e-12)
            assert found == pytest.approx(Cases.from_rows(network, codes).conditional(beta)[0], rel=1e-12)

    def test_errors_are_a_v(self):
        frame = likelihood.gradient_errors(seed=3, n_rows=10, steps=(1e-1, 1e-2, 1e-5, 1e-9))
        errors = frame.pivot(index=["network", "missing"], columns="step", values="error")
        assert len(errors) == 8
        assert (errors[1e-5] < 1e-8).all()
        np.testing.assert_allclose(errors[1e-1] / errors[1e-2], 100, rtol=0.05)
        assert (errors[1e-9] > errors[1e-5]).all()


class TestOptima:
    def test_complete_data_have_one_maximum(self, optima):
        values = optima.ends.set_index("data")["log_conditional_likelihood"]
        assert np.ptp(values["complete"]) < 1e-6
        assert optima.ends.groupby("data", sort=False).size().to_dict() == {"complete": 3, "missing": 3, "hidden": 3}

    def test_betas_are_those_of_the_ends(self, optima):
        for data, part in optima.ends.groupby("data"):
            values = [optima.cases[data].conditional(beta)[0] for beta in optima.betas[data]]
            np.testing.assert_allclose(values, part["log_conditional_likelihood"], rtol=1e-10)
            for table in optima.network.tables(optima.betas[data][0]):
                np.testing.assert_allclose(table.sum(axis=-1), 0, atol=1e-8)

    def test_renaming_changes_nothing_that_is_seen(self, optima):
        beta = optima.betas["hidden"][0]
        twin = likelihood.renamed(optima.network, beta)
        assert abs(twin - beta).max() > 0.1
        hidden, complete = optima.cases["hidden"], optima.cases["complete"]
        assert hidden.conditional(twin)[0] == pytest.approx(hidden.conditional(beta)[0], rel=1e-12)
        assert complete.conditional(twin)[0] != pytest.approx(complete.conditional(beta)[0], rel=1e-3)
        np.testing.assert_array_equal(likelihood.renamed(optima.network, twin), beta)

    def test_lines_begin_and_end_at_ends(self, optima):
        lines = likelihood.along_lines(optima, n_points=11)
        best, twin, worst = likelihood.three_ends(optima)
        for line, end in (("renamed", twin), ("worst", worst)):
            part = lines[lines["line"] == line]
            assert part["value"].iloc[0] == pytest.approx(optima.cases["hidden"].conditional(best)[0])
            assert part["value"].iloc[-1] == pytest.approx(optima.cases["hidden"].conditional(end)[0])
            np.testing.assert_allclose(part[["value", "chord"]].iloc[[0, -1]].diff(axis=1)["chord"], 0, atol=1e-12)

    def test_two_parameters_by_hand(self):
        u, values = likelihood.two_parameters(share=0.8, n_points=7)
        link = 1 / (1 + np.exp(-u))
        agree = np.outer(link, link) + np.outer(1 - link, 1 - link)
        np.testing.assert_allclose(values, 0.8 * np.log(agree) + 0.2 * np.log(1 - agree), rtol=1e-12)

    def test_symmetric_maximum(self):
        link = 1 / (1 + math.exp(-likelihood.symmetric_maximum(0.8)))
        assert link**2 + (1 - link) ** 2 == pytest.approx(0.8)

    @pytest.mark.parametrize(
        ("call", "arguments", "message"),
        [
            ("random_optima", {"n_starts": 1}, "n_starts must be an integer of at least 2; got 1"),
            ("random_optima", {"n_rows": 0}, "n_rows must be an integer of at least 1; got 0"),
            ("random_optima", {"n_attributes": 0}, "n_attributes must be .* got 0"),
            ("random_optima", {"share": 1}, r"share must be a finite number in \[0, 1\); got 1"),
            ("random_optima", {"seed": -1}, "seed must be .* got -1"),
            ("along_lines", {"optima": None, "n_points": 1}, "n_points must be .* got 1"),
            ("two_parameters", {"share": 1.1}, r"share must be a finite number in \[0, 1\]; got 1.1"),
            ("two_parameters", {"n_points": 1}, "n_points must be .* got 1"),
            ("two_parameters", {"reach": 0}, "reach must be .* got 0"),
            ("symmetric_maximum", {"share": 0.5}, r"share must be a finite number in \(0.5, 1\); got 0.5"),
            ("symmetric_maximum", {"share": 1}, "share must be .* got 1"),
            ("made_rows", {"n_classes": 1}, "n_classes must be .* got 1"),
            ("gradient_errors", {"n_rows": 0}, "n_rows must be an integer of at least 1; got 0"),
            ("gradient_errors", {"share": -0.1}, r"share must be a finite number in \[0, 1\); got -0.1"),
            ("gradient_errors", {"steps": ()}, "steps must hold at least one value; got none"),
            ("gradient_errors", {"steps": (0.1, 0)}, "steps must be .* got 0"),
        ],
    )
    def test_errors(self, call, arguments, message):
        with pytest.raises(ValueError, match=message):
            getattr(likelihood, call)(**arguments)

    @pytest.mark.parametrize("share", [0, 1])
    def test_two_parameters_at_the_ends_of_the_share(self, share):
        assert np.isfinite(likelihood.two_parameters(share, n_points=3)[1]).all()


class TestTheorem2:
    def test_formulas(self):
        formulas = likelihood.theorem_formulas(2, seed=0)
        assert len(formulas) == 2 + 2 * 2 * len(likelihood.SHAPES)
        for name, formula in formulas.items():
            assert len(formula) == int(name.split()[2])
            if "satisfiable" in name:
                assert (satisfying_assignment(formula) is None) == ("unsatisfiable" in name)
        assert list(likelihood.theorem_formulas(1, seed=0).items()) == list(formulas.items())[:6]

    def test_climbs(self):
        frame = likelihood.theorem_2(FORMULAS, n_starts=2, seed=0)
        assert frame["name"].tolist() == [name for name in FORMULAS for _ in range(2)]
        best = frame.groupby("name", sort=False)["log_conditional_likelihood"].max()
        np.testing.assert_allclose(best, [0, UNSATISFIABLE_BOUND], atol=1e-3)

    def test_constructed_scores(self):
        frame = likelihood.constructed_scores(FORMULAS, doubts=(0.1, 1e-9))
        assert frame["name"].unique().tolist() == ["3 variables, 2 clauses"]
        assert frame["rarest"].iloc[0] == 0
        assert np.isnan(frame["log_conditional_likelihood"].iloc[0])
        assert (frame["rarest"].iloc[1:] > 0).all()
        scores = frame["log_conditional_likelihood"].iloc[1:]
        assert scores.iloc[0] >= 3 * math.log(0.9)
        assert scores.iloc[1] == pytest.approx(0, abs=1e-8)

    def test_query_table(self):
        table = likelihood.query_table([(1, -2, 3), (-1, -3, 4)])
        assert table.columns.tolist() == ["of", "X1", "X2", "X3", "X4", "A"]
        assert table.values.tolist() == [
            ["x1 ∨ ¬x2 ∨ x3", "0", "1", "0", "", "0"],
            ["¬x1 ∨ ¬x3 ∨ x4", "1", "", "1", "0", "0"],
            ["", "", "", "", "", "1"],
        ]


class TestFigures:
    @pytest.fixture(autouse=True)
    def _close(self):
        yield
        plt.close("all")

    def test_a_row_of_maps(self):
        tables = {"truth": np.linspace(0, 1, 49).reshape(7, 7), "elr": np.full((7, 7), 0.5) + np.eye(7) / 3}
        figure = pictures.posterior_maps(tables, {"truth": "truth", "elr": "NB+ELR"})
        assert [axis.get_title() for axis in figure.axes[:2]] == ["truth", "NB+ELR"]

    def test_a_line_for_each_network(self):
        frame = likelihood.gradient_errors(n_rows=3, steps=(1e-2, 1e-4))
        assert len(pictures.gradient_error_by_step(frame, 1e-6).axes[0].lines) == 8 + 1

    def test_gaps_are_in_order(self, optima):
        for line in pictures.ends_of_climbs(optima.ends).axes[0].lines:
            assert (np.diff(line.get_ydata()) >= 0).all()
            assert line.get_ydata()[0] == 1e-6

    def test_two_maxima(self, optima):
        u, values = likelihood.two_parameters(n_points=5)
        figure = pictures.two_maxima(u, values, 2.0, likelihood.along_lines(optima, 5))
        assert len(figure.axes[1].lines) == 4

    @pytest.mark.parametrize("n_clauses", [1, 2, 4])
    def test_every_node_and_link_of_a_formula(self, n_clauses):
        made = reduction([(1, -2, 3), (-1, -3, 4), (2, 3, -5), (-2, 4, 5)][:n_clauses])
        axis = pictures.formula_network(made).axes[0]
        words = [re.sub(r"[${}_]", "", text.get_text()) for text in axis.texts]
        assert sorted(words) == sorted(made.names)
        assert len(axis.patches) == sum(map(len, made.parents))
        places = [tuple(text.get_position()) for text in axis.texts]
        assert len(set(places)) == len(places)

    def test_every_start_is_a_dot(self):
        frame = likelihood.theorem_2(FORMULAS, n_starts=3, seed=0)
        axis = pictures.starts_by_formula(frame, [0, UNSATISFIABLE_BOUND]).axes[0]
        assert sum(len(dots.get_offsets()) for dots in axis.collections) == len(frame)
        assert [tick.get_text() for tick in axis.get_xticklabels()] == ["3\n2", "3\n8"]
