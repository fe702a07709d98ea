"""The numerical search: float64 values of a statement at many points (simple ones, draws, and descents from them)."""
