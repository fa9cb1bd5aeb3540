"""How the reference spells shapes: ``Float[Tensor, "examples"]``, without the linter's space."""

from typing import Any

import griffe


class Shapes(griffe.Extension):
    """Strip the space that a shape of one axis begins with in the source."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Respell what a function takes and returns."""
        respell(func.returns)
        for parameter in func.parameters:
            respell(parameter.annotation)

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Respell what an attribute is, or the type that it names."""
        respell(attr.annotation)
        respell(attr.value)


def respell(annotation: Any) -> None:
    """Strip the strings of an annotation, in place."""
    if isinstance(annotation, griffe.ExprTuple):
        annotation.elements = [
            f'"{part[1:-1].strip()}"' if isinstance(part, str) and part[:1] in "'\"" else part
            for part in annotation.elements
        ]
    if isinstance(annotation, griffe.Expr):
        for part in annotation.iterate(flat=False):
            if part is not annotation:  # as names give themselves
                respell(part)
