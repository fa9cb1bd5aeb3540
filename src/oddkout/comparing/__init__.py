"""Comparisons of methods: run them anywhere, store the runs, and report the verdict."""
