"""Everything that serves the paper alone: theory, claims, published numbers, presets, results."""
