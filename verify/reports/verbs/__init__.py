"""The verbs, in Python as on the command line, which calls these and nothing else.

What a verb needs is imported when it is called, as much of it is heavy: SymPy, FLINT, PyTorch.
"""
