"""A table with planted problems, for tests of the doctor."""

import numpy as np


def planted_csv(path, *, is_planted=True):
    """Imbalanced rows, with 3 copies, 1 of them mislabelled, a class of 1, a constant column."""
    rng = np.random.default_rng(0)
    rows = [[*rng.normal(size=3).round(6), "common"] for _ in range(150)]
    rows += [[*rng.normal(size=3).round(6), "rare"] for _ in range(20)]
    if is_planted:
        rows += [rows[3], rows[4], [*rows[5][:3], "rare"], [9.0, 9.0, 9.0, "single"]]
    constant = ["same" if is_planted else str(i % 3) for i in range(len(rows))]
    lines = [f"{a},{b},{c},{k},{y}" for (a, b, c, y), k in zip(rows, constant, strict=True)]
    path.write_text("a,b,c,constant,y\n" + "\n".join(lines))
    return path
