"""Ground floor: errors, files, journals, hashes, seeds, locks, secrets; no word of grids."""
