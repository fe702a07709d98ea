"""What is told of claims that `prove` leaves open."""
