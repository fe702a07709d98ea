"""The verbs, in Python as on the command line, which calls these and nothing else.

The modules of a verb are imported when it is called, as many are heavy: SymPy, FLINT, PyTorch.
"""
