"""What a proof assistant has accepted: the `.v` files of a package, the propositions in them, and the record."""
