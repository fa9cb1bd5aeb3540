"""Reports of comparisons and evaluations: HTML pages, tables and figures."""
