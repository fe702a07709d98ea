"""The record of a search for a deduction, the styles of a proof's lines, and proofs by given multipliers."""
