"""Goals with integers: powers and factorials, invariants of recursions, telescoping sums, floors."""
