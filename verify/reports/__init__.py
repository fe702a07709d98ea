"""Output for people: the command line, text, plots, the ledger, findings and maps."""
