"""Long runs: experiments and sweeps, which are stored and resume, and comparisons and crossings."""
