"""What was found, shown: figures."""
