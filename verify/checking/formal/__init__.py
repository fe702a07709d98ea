"""Results that a proof assistant accepted: the `.v` files of a package, the propositions in them, and the record."""
