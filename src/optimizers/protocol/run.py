"""One optimizer on one cell with one seed."""

from lcbgrid.cli.protocol import run

if __name__ == "__main__":
    run()
