"""Sum up optimizer jobs: gains, intervals, tests, figures."""

from lcbgrid.cli.optimize_aggregate import run

if __name__ == "__main__":
    run()
