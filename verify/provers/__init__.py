"""How a claim is shown: each prover returns data that the re-checker reads."""
