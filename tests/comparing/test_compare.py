"""``oko.compare``: its defaults, and arguments that it refuses."""

import pytest
from grids import here
from rivals import signal_table
from sklearn.naive_bayes import GaussianNB
from synthetic import fake_executor

import oddkout as oko
from oddkout.comparing.compare import compare, setting
from oddkout.comparing.store import RunStore
from oddkout.fitting.methods import DEFAULT_METHODS, METHODS, TABLE_METHODS

pytestmark = pytest.mark.usefixtures("ours_alone")


def test_the_digits_are_a_small_heavy_tailed_subset_unless_one_is_asked_for(tmp_path):
    usual = setting("digits", out=tmp_path)
    assert (usual.distribution, usual.train_examples) == ("heavy-tailed", 200)
    assert setting("digits", out=tmp_path, distribution="all").train_examples is None
    assert usual.population == "uniform", "as in the paper"


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        ({}, DEFAULT_METHODS),
        ({"methods": ["all"]}, [name for name, row in METHODS.items() if not row.is_for_tables]),
    ],
)
def test_every_method_takes_part_with_every_rate_and_seed(tmp_path, methods, expected):
    comparison = compare(out=tmp_path, seeds=2, executor=fake_executor(), **methods)
    assert set(comparison.methods) == set(expected)
    assert len(comparison.tuning) == 2 * len(expected)
    assert comparison.seeds == 2
    assert (tmp_path / "comparison.json").is_file()


def test_the_stack_for_tables_takes_part_in_every_comparison_of_a_table(tmp_path):
    comparison = compare(signal_table(), out=tmp_path, seeds=1, executor=fake_executor())
    assert set(comparison.methods) == set(TABLE_METHODS)
    assert "tables" in comparison.methods


def test_a_method_that_is_named_twice_takes_part_once(tmp_path):
    options = {"seeds": 1, "out": tmp_path, "executor": fake_executor()}
    assert compare(methods=["oko", "bb", "oko"], **options).methods == ["bb", "oko"]


def test_failed_runs_are_tried_again_on_request_only(tmp_path):
    options = {"methods": ["oko"], "seeds": 2, "learning_rates": [0.1], "out": tmp_path}
    failing = fake_executor(is_failing=lambda config: config.seed == 1)
    assert list(compare(**options, executor=failing).failed) == ["oko"]
    assert list(compare(**options, executor=fake_executor()).failed) == ["oko"]
    again = compare(**options, executor=fake_executor(), retry_failed=True)
    assert again.failed == {}
    assert len(RunStore(tmp_path).runs()) == 2


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"methods": []}, ValueError, "at least one method and one learning rate"),
        ({"learning_rates": []}, ValueError, "at least one method and one learning rate"),
        ({"methods": ["okko"]}, ValueError, "method must be one of"),
        ({"seeds": 0}, ValueError, "seeds must be at least 1, got 0"),
        ({"folds": 0}, ValueError, "choosing among 2 learning rates needs folds"),
        ({"recipe": {"update": 3}}, ValueError, "did you mean 'updates'"),
        (
            {"updates": 3},
            TypeError,
            r"no argument 'updates'; pass it as recipe={'updates': \.\.\.}",
        ),
        ({"data_dir": "x"}, TypeError, "no argument 'data_dir'; set the environment variable"),
        ({"seed": 3}, TypeError, "no argument 'seed'; the arguments of load_data that"),
    ],
)
def test_arguments_that_would_be_ignored_or_cannot_be_are_refused(tmp_path, options, error, text):
    with pytest.raises(error, match=text):
        oko.compare("digits", out=tmp_path / "runs", executor=here, **options)
    assert not (tmp_path / "runs").exists()


def test_contestants_of_others_can_compete_alone(tmp_path):
    comparison = oko.compare(
        "digits", methods=[], contestants={"bayes": GaussianNB()}, seeds=1, out=tmp_path,
        executor=here,
    )  # fmt: skip
    assert set(comparison.methods) - {"guess", "logistic"} == {"bayes"}
