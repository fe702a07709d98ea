"""The verbs as Python functions, from which the commands of the command line are derived.

A verb's modules are imported when the verb is called, because SymPy, FLINT and PyTorch are slow to import.
"""
