"""Long runs: experiments and sweeps, which are stored and can be resumed, and comparisons and crossings."""
