"""How often ``doctor`` names a column of groups, where the truth is known.

python benchmarks/doctor_groups.py   writes results/doctor-groups.jsonl, a quarter of an hour

* patients: 120 patients with 6 visits, a pattern for each patient, and a diagnosis of the patient
  that depends on nothing. The truth of the accuracy is 0.5.
* noise: 300 rows, classes and a column of 60 values that depend on nothing.
* signal: the same, but one feature tells the class.
* age: 300 rows, classes depend on the age, and a feature is the age with noise.
"""

import lines
import numpy as np
import pandas as pd

from oddkout.diagnosis.grouping import checked_groups

LINES = lines.FOLDER / "doctor-groups.jsonl"
SIMULATIONS = 100


def patients(rng):
    patient = np.repeat(np.arange(120), 6)
    y = rng.permutation(np.arange(120) % 2)[patient]
    return rng.normal(size=(120, 6))[patient] + 0.05 * rng.normal(size=(720, 6)), y, patient


def noise(rng):
    return rng.normal(size=(300, 5)), rng.integers(0, 2, 300), rng.integers(0, 60, 300)


def signal(rng):
    x = rng.normal(size=(300, 5))
    return x, (x[:, 0] + rng.normal(size=300) > 0).astype(int), rng.integers(0, 60, 300)


def age(rng):
    years = rng.uniform(20, 90, 300)
    x = np.column_stack([years + 5 * rng.normal(size=300), rng.normal(size=(300, 3))])
    return x, (np.sin(years / 8) + 0.5 * rng.normal(size=300) > 0).astype(int), years.astype(int)


def simulated(data):
    """The shares of simulations with a warning, and with an interval that covers one half."""
    make = {"patients": patients, "noise": noise, "signal": signal, "age": age}[data]
    checks = []
    for seed in range(SIMULATIONS):
        x, y, column = make(np.random.default_rng(seed))
        frame = pd.DataFrame(x).add_prefix("m").assign(column=column)
        checks += checked_groups(frame, y, ["column"])
    return {
        "data": data,
        "simulations": SIMULATIONS,
        "warned": sum(check.is_leaking for check in checks),
        "p below 0.05": sum(check.p_value < 0.05 for check in checks),
        "random": float(np.mean([check.random[0] for check in checks])),
        "grouped": float(np.mean([check.grouped[0] for check in checks])),
        "covers 0.5": sum(check.grouped[1] <= 0.5 <= check.grouped[2] for check in checks),
    }


if __name__ == "__main__":
    wanted = [{"data": name} for name in ("patients", "noise", "signal", "age")]
    lines.perform_missing(LINES, wanted, simulated)
