"""Long runs, which are stored and resume: experiments, comparisons and sweeps."""
