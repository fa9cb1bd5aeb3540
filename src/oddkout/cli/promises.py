"""What decisions promise and how they do on the test part, as lines of text."""

from typing import Any

from oddkout.decisions.inputs import percent


def promise_lines(decisions: dict[str, Any] | None) -> list[str]:
    """A line for sets and one for each risk, and notes on classes with too few examples.

    Args:
        decisions: The entry of a card; None without folds or test part.
    """
    if not decisions or "sets" not in decisions:
        return []
    sets = decisions["sets"]
    test = sets["test"]
    lines = [
        f"sets for {percent(sets['coverage'])} coverage of each class: "
        f"{percent(test['coverage'])} of {test['examples']} test cases covered, {test['size']:.3g} "
        "classes in a set",
        *sets["notes"],
    ]
    for answers in decisions["answers"]:
        tested = answers["test"]
        line = f"at {percent(answers['risk'])} risk {percent(tested['answered'])} are answered"
        if tested["wrong"] is not None:
            line += f", {percent(tested['wrong'])} of them wrong"
        lines.append(line)
    return lines
