r"""Means of polynomials in traces of words, in matrices with normal entries: integration by parts, one entry at a time.

The columns of a normal letter X, r×c, are independent and N(0, C), C = I if no letter is given, and
different normal letters are independent; all other letters are given. For polynomials G, E X_ab G = Σ_k C_ak E ∂G/∂X_kb
(Stein's lemma). With the first X of a trace in front this gives, F being the product of the other traces,

    E tr(X A) F = Σ over A = P X Q of E tr(P C Qᵀ) F + Σ over A = P Xᵀ Q of E tr P tr(C Q) F
                  + Σ over the tr(X B) in F of E tr(A C Bᵀ) F/tr(X B),

a trace with an Xᵀ being turned to one with an X. Each term has two X fewer, and there is no term if there is no second
X: then the mean is 0. The trace of an empty word is its number of rows, and that of a product of numbers, words with
one row and one column, is the product of theirs.

A step θ(xᵀv) is 1 where xᵀv > 0, 1/2 where it is 0, and 0 elsewhere; x is a normal column and v has no x of a step.
So θ(xᵀv) + θ(−xᵀv) = 1, and as x and −x have the same law the mean of an even function of x times θ(xᵀv), given all
else, is half of the mean without it: σ(s) = s θ(s) and σ(s)² = s² θ(s). This does not hold for an odd function, which
is refused.

Both sides are compared as polynomials in the scalars, the inverses of positive ones, and the traces of given words:
where these agree they agree at all values. A trace whose value the clause gives is replaced by that value.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NoReturn, TypeAlias

from verify.rechecker.reading import Data, Effort, Rejected, TooLarge, Unknown, items, line, rational, shown, work
from verify.rechecker.registry import Checked

_MOST_LETTERS, _MOST_TERMS, _LONGEST, _HIGHEST = 100, 20_000, 64, 100
_TERM = 300
"""Bytes of a term without its letters."""

Letter: TypeAlias = tuple[str, bool]
"""A name, and whether it is transposed."""
Word: TypeAlias = tuple[Letter, ...]
Scalars: TypeAlias = tuple[tuple[str, int], ...]
"""A product of symbols: names and powers, sorted."""
Sum: TypeAlias = dict[tuple[Scalars, tuple[Word, ...]], Fraction]
"""Coefficients of products of scalars and words. Of a matrix a product has one word, of a number the traces of some."""
_HEADS = {"Add", "Mul", "Pow", "Symbol", "Integer", "Rational"}
"""The heads of a polynomial in traces."""
_ONE: Sum = {((), ()): Fraction(1)}


class _Sums:
    """The field operations that sums have; `known` are the values of some symbols."""

    def __init__(self, given: Any, known: Mapping[str, Sum]) -> None:
        self.effort: Effort = given.effort
        self.given, self.known = given, known

    def number(self, value: Fraction) -> Sum:
        return {((), ()): value} if value else {}

    def symbol(self, node: Any) -> Sum:
        return self.known[node.name] if node.name in self.known else {(((node.name, 1),), ()): Fraction(1)}

    def plus(self, left: Sum, right: Sum) -> Sum:
        self.effort.spend(1 + 0.2 * len(left))
        total = dict(left)
        for key, coefficient in right.items():
            self.effort.spend(4 + work(coefficient, coefficient))
            total[key] = total.get(key, Fraction(0)) + coefficient
        return {key: coefficient for key, coefficient in total.items() if coefficient}

    def times(self, left: Sum, right: Sum, *, words: bool = False) -> Sum:
        """Return the product; `words` are joined where both are matrices, and listed where they are traces."""
        if len(left) * len(right) > _MOST_TERMS:
            raise TooLarge("terms of a product", _MOST_TERMS)
        total: Sum = {}
        for (scalars, some), coefficient in left.items():
            for (more, others), factor in right.items():
                together = (sum((*some, *others), ()),) if words else tuple(sorted((*some, *others)))
                size = len(scalars) + len(more) + sum(map(len, together))
                if size > _LONGEST:
                    raise TooLarge("letters and scalars of a product", _LONGEST)
                self.effort.spend(10 + 1.2 * size + work(coefficient, factor))
                self.effort.make(_TERM + 80 * size)
                key = _multiplied(scalars, more), together
                total[key] = total.get(key, Fraction(0)) + coefficient * factor
        return {key: coefficient for key, coefficient in total.items() if coefficient}

    def inverse(self, value: Sum) -> Sum:
        match list(value.items()):
            case [((scalars, ()), coefficient)] if all(self.given.sign_of(x) == "positive" for x, _ in scalars):
                return {(tuple((x, -power) for x, power in scalars), ()): 1 / coefficient}
        raise Rejected("a division by what is no number times positive symbols")

    def whole_power(self, value: Sum, power: int, *, words: bool = False) -> Sum:
        if power > _HIGHEST:
            raise TooLarge("in an exponent", _HIGHEST)
        total = value if power else _ONE
        for _ in range(power - 1):
            total = self.times(total, value, words=words)
        return total

    def exp(self, *arguments: object) -> NoReturn:
        raise Rejected("a function, or a power that is no integer, is no polynomial")

    log = real_power = primitive_value = function = scope = integer = sign = hull = exp

    def is_zero(self, value: Sum) -> NoReturn:
        raise Unknown("a limit is outside what a mean may have")


def _multiplied(left: Scalars, right: Scalars) -> Scalars:
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


class _Matrices:
    """The letters of a clause, and sums of words in them."""

    def __init__(self, given: Any, clause: Mapping[str, Data]) -> None:
        self.given, self.sums = given, _Sums(given, {})
        self.shapes: dict[str, tuple[Sum, Sum]] = {}
        listed = items(clause["shapes"], "clause.shapes")
        if len(listed) > _MOST_LETTERS:
            raise TooLarge("letters", _MOST_LETTERS)
        for i, entry in enumerate(listed):
            where = f"clause.shapes[{i}]"
            data, rows, columns = items(entry, where, 3)
            name = _letter(data)
            if name is None or name in self.shapes or any(name in names for names in given.introduced):
                raise Rejected(f"{where}: {shown(data)} is not a new matrix")
            self.shapes[name] = self._length(rows, where), self._length(columns, where)
        symmetric = [self.known_letter(data, "clause.symmetric") for data in items(clause["symmetric"], "symmetric")]
        self.normal: dict[str, Word] = {}
        for i, entry in enumerate(items(clause["normal"], "clause.normal")):
            data, covariance = items(entry, where := f"clause.normal[{i}]", 2)
            name = self.known_letter(data, where)
            rows, _ = self.shapes[name]
            if name in self.normal:
                raise Rejected(f"{where}: {shown(name)} is named twice")
            self.normal[name] = ()
            if covariance is not None:
                along = self.known_letter(covariance, where)
                if self.shapes[along] != (rows, rows):
                    raise Rejected(f"{where}: a covariance whose size is not the number of rows")
                self.normal[name] = ((along, False),)
                symmetric.append(along)
        self.symmetric = frozenset(symmetric)
        for name in self.symmetric:
            if self.shapes[name][0] != self.shapes[name][1] or name in self.normal:
                raise Rejected(f"clause: {shown(name)} is not square, or normal, and cannot be given as symmetric")

    def _length(self, data: Data, where: str) -> Sum:
        node = self.given.expression(data, where)
        positive = node.head == "number" and node.number.denominator == 1 and node.number >= 1
        named = node.head == "symbol" and node.name in self.given.integers
        if not positive and not (named and self.given.sign_of(node.name) == "positive"):
            raise Rejected(f"{where}: a number of rows or columns is a positive integer, or a symbol of one")
        (value,) = self.given.evaluated([node], self.sums)
        return value

    def known_letter(self, data: Data, where: str) -> str:
        """Return the name of a letter. Raises Rejected for one without a shape."""
        name = _letter(data)
        if name is None or name not in self.shapes:
            raise Rejected(f"{where}: {shown(data)} is no matrix of the clause")
        return name

    def sum_of(self, data: Data, where: str) -> Sum:
        """Return an expression's data as a sum of words."""
        self.given.effort.spend(5)
        if _letter(data) is not None:
            name = self.known_letter(data, where)
            return {((), (((name, False),),)): Fraction(1)}
        if not _has_letter(self.given.effort, data):
            (value,) = self.given.evaluated([self.given.expression(data, where)], self.sums)
            return {(scalars, ((),)): coefficient for (scalars, _), coefficient in value.items()}
        head, *rest = items(data, where)
        if head == "transpose" and len(rest) == 1:
            turned = self.sum_of(rest[0], where)
            return {(scalars, (self.turned(word),)): c for (scalars, (word,)), c in turned.items()}
        if head == "Pow" and len(rest) == 2:
            times = rational(items(rest[1], where, 2)[1], where)
            if items(rest[1], where)[0] != "Integer" or times < 1:
                raise Rejected(f"{where}: a power of a matrix that is no integer from 1 on")
            return self.sums.whole_power(self.sum_of(rest[0], where), int(times), words=True)
        if head not in ("Add", "Mul") or not rest:
            raise Rejected(f"{where}: {shown(head)} of matrices is outside what this program checks")
        total, *parts = (self.sum_of(part, where) for part in rest)
        for part in parts:
            total = self.sums.plus(total, part) if head == "Add" else self.sums.times(total, part, words=True)
        return total

    def shape(self, word: Word, where: str) -> tuple[Sum, Sum]:
        """Return rows and columns of a word of one letter or more. Raises Rejected where its letters do not fit."""
        shapes = [self.shapes[name][::-1] if turned else self.shapes[name] for name, turned in word]
        if any(one[1] != other[0] for one, other in pairwise(shapes)):
            raise Rejected(f"{where}: a product of matrices that do not fit")
        return shapes[0][0], shapes[-1][1]

    def trace(self, data: Data, where: str) -> Sum:
        """Return the trace of an expression, whose words are all of one square shape."""
        matrix = self.sum_of(data, where)
        sizes = [side for _, (word,) in matrix if word for side in self.shape(word, where)]
        if not sizes or any(side != sizes[0] for side in sizes):
            raise Rejected(f"{where}: a trace of what is not square, or has no matrix")
        total: Sum = {}
        for (scalars, (word,)), coefficient in matrix.items():
            alone: Sum = {(scalars, self.traces(word)): coefficient}
            total = self.sums.plus(total, alone if word else self.sums.times(alone, sizes[0]))
        return total

    def turned(self, word: Word) -> Word:
        """Return the transpose of a word."""
        return tuple((name, turned == (name in self.symmetric)) for name, turned in reversed(word))

    def traces(self, word: Word) -> tuple[Word, ...]:
        """Return the traces whose product is that of a word: it is cut where one row meets one column."""
        sides = [self.shapes[name][turned] for name, turned in word]
        cuts = [i for i, side in enumerate(sides) if side == _ONE]
        if len(cuts) < 2:
            return (self.least(word),) if word else ()
        around = word[cuts[0] :] + word[: cuts[0]]
        ends = [*(cut - cuts[0] for cut in cuts), len(word)]
        return tuple(sorted(self.least(around[start:end]) for start, end in pairwise(ends)))

    def least(self, word: Word) -> Word:
        """Return one form for all words of one trace: it may be started anywhere, and transposed."""
        self.given.effort.spend(5 + 0.8 * len(word) ** 2)
        word = tuple((name, turned and name not in self.symmetric) for name, turned in word)
        return min(form[i:] + form[:i] for form in (word, self.turned(word)) for i in range(len(word)))


def _letter(data: Data) -> str | None:
    match data:
        case ["Symbol", str(name), "noncommutative"] if name:
            return line(name, "a matrix")
    return None


def _has_letter(effort: Effort, data: Data) -> bool:
    waiting = [data]
    while waiting:
        effort.spend(0.5)
        part = waiting.pop()
        if _letter(part) is not None:
            return True
        waiting.extend(part if type(part) is list else ())
    return False


class _Means:
    """Means of products of traces, each found once."""

    def __init__(self, matrices: _Matrices) -> None:
        self.matrices, self.sums, self.normal = matrices, matrices.sums, matrices.normal
        self.known: dict[tuple[Word, ...], Sum] = {}

    def of(self, traces: tuple[Word, ...]) -> Sum:
        """Return the mean of a product of traces, each in its least form."""
        if traces not in self.known:
            self.known[traces] = self._by_parts(traces)
        return self.known[traces]

    def _by_parts(self, traces: tuple[Word, ...]) -> Sum:
        found = next(
            ((k, i) for k, word in enumerate(traces) for i, (x, _) in enumerate(word) if x in self.normal), None
        )
        if found is None:
            return {((), traces): Fraction(1)}
        place, start = found
        (letter, _), *rest = self._opened(traces[place], start)
        first, others, along = tuple(rest), traces[:place] + traces[place + 1 :], self.normal[letter]
        rows, columns = self.matrices.shapes[letter]
        total: Sum = {}
        for i, (name, turned) in enumerate(first):
            if name == letter:
                before, after = first[:i], first[i + 1 :]
                apart = ((before, columns), (along + after, rows))
                joined = ((before + along + self.matrices.turned(after), columns),)
                total = self.sums.plus(total, self._product(apart if turned else joined, others))
        for k, other in enumerate(others):
            for i, (name, _) in enumerate(other):
                if name == letter:
                    _, *tail = self._opened(other, i)
                    joined = ((first + along + self.matrices.turned(tuple(tail)), columns),)
                    total = self.sums.plus(total, self._product(joined, others[:k] + others[k + 1 :]))
        return total

    def _opened(self, word: Word, start: int) -> Word:
        """Return the word of the same trace that begins with a letter, not transposed."""
        word = word[start:] + word[:start]
        if word[0][1]:
            word = self.matrices.turned(word)
            return word[-1:] + word[:-1]
        return word

    def _product(self, traces: Sequence[tuple[Word, Sum]], others: tuple[Word, ...]) -> Sum:
        """Return the mean of a product of the traces of some words, each with its number of rows, and of others."""
        left = tuple(sorted((*others, *(part for word, _ in traces for part in self.matrices.traces(word)))))
        total = self.of(left)
        for word, size in traces:
            total = total if word else self.sums.times(total, size)
        return total


def gaussian_moment(given: Any, clause: dict[str, Data], proof: dict[str, Data], where: str) -> Checked:
    """`gaussian_moment`, verified: the mean of the left side is the right side, as polynomials."""
    matrices = _Matrices(given, clause)
    random: dict[str, Sum] = {}
    for i, entry in enumerate(items(clause["random"], "clause.random")):
        symbol, data = items(entry, place := f"clause.random[{i}]", 2)
        random[_new(given, symbol, random, place)] = matrices.trace(data, place)
    steps = _steps(given, matrices, clause, random)
    field = _Sums(given, random)
    _refuse_other_heads(clause["left"], "clause.left")
    (left,) = given.evaluated([given.expression(clause["left"], "clause.left", [*random, *steps])], field)
    (right,) = given.evaluated([given.expression(clause["right"], "clause.right")], matrices.sums)
    values, means, mean = _values(given, matrices, clause), _Means(matrices), dict[Any, Fraction]()
    for (scalars, traces), coefficient in left.items():
        rest, halves = _halved(scalars, traces, steps)
        for (sizes, words), times in means.of(traces).items():
            product: Sum = {(_multiplied(rest, sizes), ()): coefficient * times / 2**halves}
            for word in words:
                product = field.times(product, values[word] if word in values else {((), (word,)): Fraction(1)})
            mean = field.plus(mean, product)
    if mean != right:
        raise Rejected(f"{where}: the mean of the left side is not the right side")
    return Checked(True, hypotheses_used=False)


def _refuse_other_heads(data: Data, where: str) -> None:
    """Refuse all but sums, products and powers: a derivative would take the names of traces for constants."""
    if isinstance(data, list) and data and isinstance(data[0], str):
        if data[0] not in _HEADS:
            raise Rejected(f"{where}: {shown(data[0])} is no part of a polynomial in traces")
        for part in data[1:]:
            _refuse_other_heads(part, where)


def _new(given: Any, data: Data, taken: Mapping[str, object], where: str) -> str:
    name = given.new_name(data, where)
    if name in taken:
        raise Rejected(f"{where}: {shown(name)} is named twice")
    return name


def _steps(given: Any, matrices: _Matrices, clause: Mapping[str, Data], taken: Mapping[str, object]) -> dict[str, str]:
    """Return the normal column of each step. Raises Rejected where two share one, or a step's v has one in it."""
    steps, beside = dict[str, str](), list[Sum]()
    for i, entry in enumerate(items(clause["steps"], "clause.steps")):
        symbol, column, data = items(entry, where := f"clause.steps[{i}]", 3)
        name, letter = _new(given, symbol, {**taken, **steps}, where), matrices.known_letter(column, where)
        beside.append(matrices.sum_of(data, where))
        wanted = matrices.shapes[letter]
        fits = all(word and matrices.shape(word, where) == wanted for _, (word,) in beside[-1])
        if letter not in matrices.normal or letter in steps.values() or wanted[1] != _ONE or not fits:
            raise Rejected(f"{where}: needs a normal column of its own, and a v of its shape")
        steps[name] = letter
    used = {name for each in beside for _, words in each for word in words for name, _ in word}
    if used & set(steps.values()):
        raise Rejected("clause.steps: a column of a step is in the v of one")
    return steps


def _values(given: Any, matrices: _Matrices, clause: Mapping[str, Data]) -> dict[Word, Sum]:
    """Return what the clause gives as the traces of given words."""
    values: dict[Word, Sum] = {}
    for i, entry in enumerate(items(clause["traces"], "clause.traces")):
        data, value = items(entry, where := f"clause.traces[{i}]", 2)
        match list(matrices.trace(data, where).items()):
            case [(((), (word,)), 1)] if word not in values and not any(name in matrices.normal for name, _ in word):
                (values[word],) = given.evaluated([given.expression(value, where)], matrices.sums)
            case _:
                raise Rejected(f"{where}: is not the trace of one word of given matrices, named once")
    return values


def _halved(scalars: Scalars, traces: Sequence[Word], steps: Mapping[str, str]) -> tuple[Scalars, int]:
    """Return a product's scalars without its steps, and how many these are; Rejected for one that does not halve."""
    found = [(name, power) for name, power in scalars if name in steps]
    for name, power in found:
        if power != 1 or sum(letter == steps[name] for word in traces for letter, _ in word) % 2:
            raise Rejected(f"clause.left: {shown(name)} has a power, or stands beside an odd function of its column")
    return tuple(each for each in scalars if each[0] not in steps), len(found)
