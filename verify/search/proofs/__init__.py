"""Reports on the claims that `prove` leaves open."""
