"""A debate of peers on LiveCodeBench, communication freeform."""

from lcbgrid.cli.runner import run

if __name__ == "__main__":
    run("decentralized", communication="freeform")
