# ruff: noqa: T201 -- the command prints its results
"""Random files made to exhaust the re-checker, each answered in its own process with 1.5 GB of address space.

`python -m tests.verify.rechecker.fuzz --count 300 --seed 0` draws 300 files; `--named` takes the files of `bombs`. For
each file it prints the verdict, the counted work and bytes, seconds and megabytes; at the end it prints the largest of
each number. It exits with 1 if a file was not answered.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping

from tests.verify.rechecker.bomb_parts import (
    POSITIVE,
    Data,
    V,
    W,
    X,
    Y,
    add,
    certificate,
    cycle,
    fraction,
    identity,
    in_balls,
    letter,
    mul,
    not_negative,
    num,
    passage,
    power,
    recursion,
    relation,
    residual,
    shown_exactly,
    the_same,
    tube,
    words,
)
from tests.verify.rechecker.bombs import (
    BOMBS,
    LINKS,
    chain,
    half_negative,
    halves,
    long_product,
    long_words,
    many_choices,
    many_divisors,
    many_lists,
    many_shapes,
    many_signs,
    many_squares,
    many_substitutions,
    matrices_apart,
    nothing_to_a_power,
    quotients_in_exponents,
    raised_slacks,
    raised_sum,
    roots_of,
    sparse_limit,
    turned_words,
)
from verify.rechecker import Doors
from verify.rechecker.registry import closed

ADDRESSES = 1536 * 2**20
"""Bytes of address space of the process that answers a file."""
SECONDS = 300
"""Processor time after which a file counts as not answered."""


class Drawn:
    """A generator of the parts of a file; sizes are drawn over several magnitudes."""

    def __init__(self, source: random.Random) -> None:
        self.source = source

    def size(self, most: float) -> int:
        return max(1, round(most ** self.source.random()))

    def number(self) -> Data:
        digits, choice = self.size(3000), self.source.randrange(3)
        if not choice:
            return num(self.size(10**6))
        return num(int("7" * digits)) if choice == 1 else fraction(int("7" * digits), int("3" * digits) + 1)

    def leaf(self) -> Data:
        return self.source.choice([X, Y, V, W, self.number()])

    def tree(self, depth: int) -> Data:
        source = self.source
        if not depth or source.random() < 0.2:
            return self.leaf()
        match source.randrange(9):
            case 0 | 1:
                return add(*[self.tree(depth - 1) for _ in range(source.randint(2, 4))])
            case 2 | 3:
                return mul(*[self.tree(depth - 1) for _ in range(source.randint(2, 4))])
            case 4:
                exponents = [-1, 2, 3, self.size(10**5), -self.size(100), self.size(10**18)]
                return power(self.tree(depth - 1), source.choice(exponents))
            case 5:
                exponent = source.choice([fraction(1, 2), fraction(-3, 2), fraction(2, 7), self.leaf()])
                return ["Pow", self.tree(depth - 1), exponent]
            case 6:
                return [source.choice(["exp", "log"]), self.tree(depth - 1)]
            case 7:
                return ["Derivative", self.tree(depth - 1), ["Tuple", source.choice([X, Y]), num(self.size(20))]]
            case _:
                return ["Subs", self.tree(depth - 1), ["Tuple", W], ["Tuple", self.tree(depth - 1)]]

    def wide(self) -> Data:
        parts = [
            self.source.choice([power(add(X, num(i + 1)), self.source.choice([-1, 1, 2])), mul(num(i + 2), Y)])
            for i in range(self.size(5000))
        ]
        return self.source.choice([add, mul])(*parts, num(1), X)

    def grown(self) -> tuple[Data, list[Data]]:
        """Return an expression whose parts become longer than their text, and its definitions."""
        starts = [
            lambda: self.tree(self.source.randint(0, 5)),
            self.wide,
            lambda: halves(self.size(400)),
            lambda: long_product(self.size(2000)),
            lambda: roots_of(self.size(3000)),
        ]
        start = self.source.choice(starts)()
        if self.source.random() < 0.5:
            start = power(start, self.source.choice([2, 3, self.size(40)]))
        names = self.source.sample(list(LINKS), self.source.randint(0, 2))
        return chain(self.size(200) if names else 0, lambda last, i: LINKS[names[i % len(names)]](last, i), start)

    def about_values(self) -> bytes:
        last, definitions = self.grown()
        given: Data = {"definitions": definitions, "variables": (), "values": {"y": "2", "v": "1/3", "w": "5"}}
        return shown_exactly(last, **given) if self.source.random() < 0.5 else in_balls(last, self.bits(), **given)

    def about_functions(self) -> bytes:
        source = self.source
        last, definitions = self.grown()
        given: Data = {"evidence": "proved", "definitions": definitions}
        match source.randrange(6):
            case 0:
                factors = [self.tree(2) for _ in range(source.choice([0, 1, self.size(200)]))]
                return the_same(last, factors, definitions=definitions)
            case 1:
                return not_negative(last, definitions=definitions)
            case 2:
                squares = [{"factor": self.tree(2), "root": self.tree(3)}] * self.size(60)
                return certificate(relation(last), POSITIVE | {"kind": "squares", "squares": squares}, **given)
            case 3:
                listed = [{"of": last, "proof": POSITIVE}] * self.size(60)
                proof = {"kind": "logarithms", "logarithms": listed, "left": POSITIVE}
                return certificate(relation(["log", last]), proof, **given)
            case 4:
                proof = {"kind": "deduction", "relations": [], "tree": self.deduced(last, self.size(40))}
                return certificate(relation(last), proof, **given)
            case _:
                bits = source.choice([None, self.bits()])
                proof = {"kind": "point", "bits": bits, "point": {"y": "1", "v": "2", "w": "1/3"}}
                proof |= {"difference": "1" if bits is None else ["1", "2"]}
                return certificate(identity(last), proof, outcome="refuted", definitions=definitions)

    def deduced(self, last: Data, depth: int) -> Data:
        """Return a tree of rules, most of them about a given expression."""
        source = self.source
        then, leaf = (self.deduced(last, depth - 1), self.deduced(last, 0)) if depth else (None, None)
        one = [num(1), [source.randrange(depth + 1)], source.choice([None, last])]
        match source.randrange(6) if then else 0:
            case 0:
                return {"rule": "sum", "times": num(1), "terms": [[last, [], None], *[one] * self.size(60)]}
            case 1:
                return {"rule": "lemma", "relation": ["Ge", self.tree(2), num(0)], "proof": leaf, "then": then}
            case 2:
                name, count = source.choice([("exp", 1), ("log", 1), ("product", 2), ("power", 2), ("monotone", 3)])
                return {"rule": "known", "name": name, "of": [self.tree(2) for _ in range(count)], "then": then}
            case 3:
                return {"rule": "cases", "of": self.tree(3), "above": leaf, "at": None, "below": then}
            case 4:
                return {"rule": "contradiction", "then": then}
            case _:
                ends = {"in": "y", "as": f"t{depth}", "from": num(0), "side": "above", "strict": "start"}
                return {"rule": "slope", **ends, "value": leaf, "start": leaf, "slope": then}

    def about_runs(self) -> bytes:
        source, states = self.source, [["Symbol", f"z{i}"] for i in range(self.source.randint(1, 4))]

        def term(state: Data) -> Data:
            return mul(fraction(1, source.randint(2, 9)), power(state, source.choice([1, 2, self.size(10**6)])))

        flow = recursion([add(*map(term, states), ["exp", mul(num(-1), z)]) for z in states], start=self.number())
        match source.randrange(4):
            case 0:
                within = source.choice([None, power(self.number(), self.size(10**12))])
                return passage(flow, self.size(2 * 10**7), self.bits(), within=within)
            case 1:
                return cycle(flow, self.size(1000), self.bits(), self.size(10**6))
            case 2:
                return half_negative(self.size(49_000), self.number())
            case _:
                return tube(flow, 2 + self.size(50_000), self.bits())

    def about_polynomials(self) -> bytes:
        match self.source.randrange(4):
            case 0:
                return residual(self.size(60), self.number(), self.size(3000))
            case 1:
                return raised_sum(self.size(900), self.size(40))
            case 2:
                return quotients_in_exponents(self.size(900), self.size(900))
            case _:
                return raised_slacks(self.size(200), self.size(40))

    def about_matrices(self) -> bytes:
        if self.source.random() < 0.3:
            return long_words(self.size(200), self.size(19_000))
        if self.source.random() < 0.4:
            return matrices_apart(self.size(20), self.size(19_000))
        if self.source.random() < 0.4:
            return turned_words(self.size(180), self.size(36))
        if self.source.random() < 0.3:
            return many_lists(self.size(1_300_000), self.size(190))
        if self.source.random() < 0.5:
            return words(nothing_to_a_power(self.size(40), self.size(100)), letter("A"))
        return words(power(add(letter("A"), mul(self.tree(2), letter("B"))), self.size(100)), letter("A"))

    def about_many(self) -> bytes:
        few, many = self.size(480), self.size(10_000)
        match self.source.randrange(7):
            case 0:
                return many_choices(many, self.size(400_000))
            case 1:
                return many_divisors(few, many)
            case 2:
                return many_shapes(few, many)
            case 3:
                return sparse_limit(few, self.size(97), self.size(100))
            case 4:
                return many_signs(many, few)
            case 5:
                return many_squares(many, few)
            case _:
                return many_substitutions(many, few)

    def bits(self) -> int:
        return 64 + self.size(8000)

    def file(self) -> bytes:
        kinds = [self.about_values, self.about_functions, self.about_runs, self.about_polynomials, self.about_matrices]
        return self.source.choices([*kinds, self.about_many], [3, 6, 3, 3, 2, 1])[0]()


def answer(made: Callable[[], bytes], door: Doors) -> dict[str, Data]:
    """Return the verdict on a file and its cost, from its own process; an empty dict if the process dies."""
    read, write = os.pipe()
    if not (child := os.fork()):
        os.close(read)
        try:
            import resource

            text = made()
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 10))
            os.write(write, json.dumps(_answered(text, door)).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            # Only the parent runs the code below.
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {}


def _answered(text: bytes, door: Doors) -> dict[str, Data]:
    import resource

    import verify.rechecker
    from verify.rechecker import Rejected, TooLarge, Unreadable, reading

    counted: list[reading.Effort] = []
    verify.rechecker.Effort = lambda: counted.append(reading.Effort()) or counted[-1]  # type: ignore[misc,assignment]
    started, limited = time.process_time(), None
    try:
        verify.rechecker.recheck_text(text, door=door)
        verdict = "accepted"
    except TooLarge as error:
        verdict, limited = str(error), error.limited
    except (Rejected, Unreadable) as error:
        verdict = f"{type(error).__name__}: {error}"
    effort = counted[-1] if counted else reading.Effort()
    return {
        "verdict": verdict,
        "limited": limited,
        "bytes": len(text),
        "seconds": time.process_time() - started,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "work": effort.most[0] - effort.left,
        "made": effort.most[1] - effort.room,
    }


def made_by(draw: Callable[[Drawn], bytes], seed: int, count: int) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for i in range(count):
        yield f"{seed}:{i}", lambda i=i: draw(Drawn(random.Random(f"{seed}:{i}")))


def answers(module: str, *arguments: str) -> tuple[list[dict[str, Data]], dict[str, float]]:
    """Return the output of a module that calls `main`: a row for each file, and the largest of each number."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False)
    *rows, last = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 0 and not last["not answered"], (last, done.stderr[-2000:])
    return rows, last["largest"]


def main(
    named: Mapping[str, Callable[[], bytes]] = BOMBS, draw: Callable[[Drawn], bytes] = Drawn.file, door: Doors = closed
) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=0, help="number of drawn files")
    parser.add_argument("--first", type=int, default=0, help="index of the first drawn file to answer")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws")
    parser.add_argument("--named", action="store_true", help="answer the files of `BOMBS` too")
    given = parser.parse_args()
    listed = [*(named.items() if given.named else ()), *list(made_by(draw, given.seed, given.count))[given.first :]]
    died, worst = [], {"seconds": 0.0, "megabytes": 0.0, "work": 0.0, "made": 0.0}
    for name, made in listed:
        found = answer(made, door)
        if not found:
            died.append(name)
        else:
            worst = {key: max(value, found[key]) for key, value in worst.items()}
        print(json.dumps({"name": name, **found}), flush=True)
    print(json.dumps({"files": len(listed), "not answered": died, "largest": worst}))
    return 1 if died else 0


if __name__ == "__main__":
    sys.exit(main())
