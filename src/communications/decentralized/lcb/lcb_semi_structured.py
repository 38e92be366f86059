"""A debate of peers on LiveCodeBench, communication semi_structured."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("decentralized", communication="semi_structured")
