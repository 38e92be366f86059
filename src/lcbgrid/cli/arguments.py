"""The parser of the programs that are run with ``python -m``."""

from __future__ import annotations

import argparse
from typing import NoReturn

from lcbgrid.core.errors import UserError


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are our errors: one line, exit status 2."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing."""
        raise UserError(message, remedy=f"see python -m {self.prog} --help")
