"""In-context linear regression: linear and ReLU transformers, and the gradient descent that they carry out."""
