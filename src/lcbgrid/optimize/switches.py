"""Names of improvements that more than one module asks for; ``improvements`` lists them all."""

PAIRED, CURTAILED, ANYTIME = "common_random_numbers", "curtailment", "anytime_stop"
HARD_FIRST, TAIL = "hard_rows_first", "tail_retests"
NOISE_AWARE, RICH = "noise_aware_incumbent", "rich_feedback"
