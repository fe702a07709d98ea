"""The account of claims that `prove` leaves open."""
