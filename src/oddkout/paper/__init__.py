"""Code that serves only the paper: theory, claims, published numbers, presets, results."""
