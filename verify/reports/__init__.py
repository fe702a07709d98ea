"""What people see: the command line, text, plots, the ledger, findings and maps."""
