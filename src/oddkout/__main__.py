"""``python -m oddkout`` is ``oddkout``."""

import sys

from oddkout.cli import main

if __name__ == "__main__":
    sys.exit(main())
