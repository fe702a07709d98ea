"""Li et al. 2024: closeness of in-context learning and weight shifting for softmax regression."""
