"""The ``lcbgrid`` command; every stage of the workflow is one of its subcommands."""
