"""LiveCodeBench's result files: read them, judge them again, write them."""
