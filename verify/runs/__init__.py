"""What takes long, is stored and resumes: experiments, comparisons and sweeps."""
