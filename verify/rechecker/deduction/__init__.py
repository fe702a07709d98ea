"""The values and the facts of a deduction: quotients with functions as atoms, signs that are shown, scopes."""
