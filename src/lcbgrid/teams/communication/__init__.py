"""How agents write to each other: contracts, parsing, hand-offs, measurements (teams, section 4).

``formats`` names the formats, ``contracts`` tells an agent what to write, ``parse`` reads what it
wrote, ``render`` makes the text that the next agent gets, ``measure`` counts.
"""
