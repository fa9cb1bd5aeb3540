"""Comparisons: runs of several methods, where they are performed and stored, and the verdict."""
