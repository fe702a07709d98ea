"""Files made to exhaust the check of `stationary`: `--named` or `--count 40 --seed 0` answers them, as `fuzz` does."""

import sys
from collections.abc import Callable

from tests.verify.rechecker.bomb_parts import Z, add, certificate, mul, num, power, recursion
from tests.verify.rechecker.certificates import trusts_of
from tests.verify.rechecker.fuzz import Data, Drawn, main
from verify.checking.doors import door

A, B, S = (["Symbol", name] for name in "abs")
INDEX = ["Symbol", "k", "integer", "rational", "nonnegative", "real"]


def stationary(step: list[Data], layers: int, moment: Data) -> bytes:
    claim = {"kind": "stationary", "label": "c", "says": "", "layers": num(layers), "variable": S, "moment": moment}
    claim |= {"index": INDEX, "unknowns": [A, B], "minimum": False, "dynamics": recursion(step)}
    proof = {"kind": "stationary", "bits": 64, "centre": ["1"] * 2 * layers, "radius": "1"}
    return certificate(claim, proof, trusts=tuple(trusts_of({"claims": [claim]}, proof)))


def moments_apart(layers: int, digits: int) -> bytes:
    """Return a file whose moments have no common denominator."""
    return stationary([mul(Z, S)], layers, power(add(INDEX, ["Integer", "1" + "0" * digits]), -1))


def drawn(draw: Drawn) -> bytes:
    source = draw.source
    if source.random() < 0.5:
        return moments_apart(draw.size(30), draw.size(19_000))
    factor = add(num(1), mul(A, S, power(Z, source.randint(1, 2))), mul(B, draw.number()))
    moment = source.choice([num(1), draw.number(), power(add(["Symbol", "x", "real"], num(2)), -1)])
    return stationary([mul(Z, power(factor, source.randint(1, 4)))], draw.size(30), moment)


BOMBS: dict[str, Callable[[], bytes]] = {
    "many layers": lambda: stationary([mul(Z, add(num(1), mul(A, S), mul(B, power(Z, 3))))], 12, num(1)),
    "moments of many denominators": lambda: moments_apart(30, 4000),
}

if __name__ == "__main__":
    sys.exit(main(BOMBS, drawn, door))
