"""The headline claims no more than the runs support."""

from synthetic import synthetic_run, with_seed

from oddkout.comparing.comparison import Comparison
from oddkout.report.headline import headline


def test_the_headline_claims_a_winner_only_where_the_difference_is_significant():
    """Runs with chosen metrics: oko leads by nearly the same in each seed, or erratically."""

    def compared(gaps):
        runs = []
        for seed, gap in enumerate(gaps):
            for method, lead in (("vanilla", 0.0), ("oko", gap)):
                run = synthetic_run(with_seed(seed, method=method), examples=20)
                run.tempered["accuracy"]["value"] = 0.5 + lead
                run.tempered["nll"]["value"] = 0.9 - lead
                run.logits = None  # as of recorded runs: seeds alone count
                runs.append(run)
        return headline(Comparison(runs=runs))

    steady, fickle = [0.10, 0.11, 0.12, 0.11, 0.10], [0.4, -0.3, 0.3, -0.2, 0.1]
    assert compared(steady) == "oko is the most accurate method and has the best probabilities"
    assert compared(fickle) == "oko leads, but its lead over the next best is within chance"
