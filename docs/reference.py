"""How the reference shows what it reads in the source: shapes and examples."""

import re
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Show examples as code.

    The parser knows sections called ``Examples:``. It takes ``Example:`` for ordinary text, in
    which ``>>>`` is a block quote inside two others.
    """

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rename the section in the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(
                r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE
            )


class Shapes(griffe.Extension):
    """Spell a shape ``Float[Tensor, "examples"]``, without the space that the linter asks for."""

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
