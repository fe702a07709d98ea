"""The entries of this package, by id."""

THEOREMS = {
    "hardy.harmonic": "textbook.harmonic:harmonic_bound",
    "hardy.neighbours": "textbook.divides:neighbours",
}
EXPERIMENTS = {"hardy.sum_in_floats": "textbook.simulation:sum_in_floats"}
COMPARISONS = {"hardy.exact_and_float_sums_agree": "textbook.simulation:exact_and_float_sums_agree"}
FINDINGS = {"hardy.bound_is_within_one": "textbook.simulation:bound_is_within_one"}
