"""Settings of the papers' checks."""

from hypothesis import settings

# Drawn instances repeat from run to run; the database and the clock have no say.
settings.register_profile("paper_checks", derandomize=True, deadline=None, database=None, print_blob=False)
settings.load_profile("paper_checks")
