"""An example for theorems that a test makes, of which any will do."""


def example_of(parameters):
    """Return a value in its domain for each parameter without a default, whatever relations they are to keep."""
    return {p.name: _value(p) for p in parameters if p.default is None}


def _value(parameter):
    if parameter.words:
        return parameter.words[0]
    if parameter.minimum is not None:
        return parameter.minimum
    return 1 if parameter.above is None else parameter.above + 1
