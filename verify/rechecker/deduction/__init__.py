"""The values and the facts of a deduction: quotients with functions as atoms, their proved signs, and scopes."""
