"""The numerical search: a statement over arrays of points in float64, simple points, draws, and descents from them."""
