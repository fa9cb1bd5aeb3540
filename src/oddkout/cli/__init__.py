"""The command line: each command parses, calls one function of the library, and prints."""

import sys
from collections.abc import Sequence

from oddkout.cli.terminal import printable


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``oddkout`` and return its exit code.

    0 success, 1 finished but a check failed, 2 bad input (one line on stderr), 130 interrupted.
    Bugs keep their traceback.
    """
    try:
        import typer

        from oddkout.cli.commands import app
    except ModuleNotFoundError as missing:
        return _failed(f"the command line needs {missing.name}; run: pip install 'oddkout[cli]'")
    arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    try:
        code = app(args=arguments, prog_name="oddkout", standalone_mode=False)
    except typer.TyperException as error:
        return _failed(error.format_message())
    except BrokenPipeError:  # the reader, e.g. head, has closed the pipe
        sys.stderr.close()
        return 0
    except (ValueError, OSError) as error:
        return _failed(str(error))
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("oddkout"):
            raise
        return _failed(f"this command needs {missing.name}; run: pip install 'oddkout[all]'")
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    if code == 130:  # also the code of Typer for Ctrl-C
        print("oddkout: interrupted", file=sys.stderr)
    return code if isinstance(code, int) else 0


def _failed(reason: str) -> int:
    """Print the reason as one line on stderr; return exit code 2."""
    print(f"oddkout: {printable(' '.join(reason.split()))}", file=sys.stderr)
    return 2
