"""The papers' checks: `test_*.py` for pytest, comparisons and findings that `verify` knows by id."""
