"""Sums over sixteen lanes at a time: of a row's numbers with the signs of bits, and products of small matrices.

LLVM's vectors are used as they are, so that a machine with masks (AVX-512) adds sixteen numbers of float32, each with
its sign, by one instruction, and others by what LLVM makes of it. Arrays are contiguous and padded; nothing is looked
at, as these functions are for kernels that know their sizes. A machine has its words' lowest bits first.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from numerics.compiled import compiled

LANES = 16
_INTEGER = ir.IntType(64)


@compiled
def padded(count: int, to: int = LANES) -> int:
    """Return the least multiple that is not below a count."""
    return -(-count // to) * to


class _Memory:
    """An array's elements, one by one and as vectors."""

    def __init__(self, context: Any, builder: Any, array_type: Any, array: Any) -> None:
        self.builder, self.type = builder, context.get_value_type(array_type.dtype)
        self.vector = ir.VectorType(self.type, LANES)
        self.start = context.make_array(array_type)(context, builder, array).data
        self.bytes = array_type.dtype.bitwidth // 8

    def one(self, place: Any) -> Any:
        return self.builder.load(self.builder.gep(self.start, [place]))

    def everywhere(self, number: Any) -> Any:
        """Return a vector of one number."""
        lane = ir.VectorType(ir.IntType(32), LANES)
        first = self.builder.insert_element(ir.Constant(self.vector, ir.Undefined), number, ir.IntType(32)(0))
        return self.builder.shuffle_vector(first, first, ir.Constant(lane, [0] * LANES))

    def load(self, place: Any) -> Any:
        loaded = self.builder.load(self._many(place))
        loaded.align = self.bytes
        return loaded

    def store(self, vector: Any, place: Any) -> None:
        self.builder.store(vector, self._many(place)).align = self.bytes

    def _many(self, place: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(self.start, [place]), self.vector.as_pointer())


def _masked(groups: int, sums: int) -> Any:
    """Return what adds numbers where bits are set, for some groups of lanes, in so many sums that are added up."""

    @intrinsic
    def masked(
        typing: Any, bits: Any, offset: Any, plane: Any, along: Any, across: Any, values: Any, start: Any, out: Any,
        to: Any,
    ) -> Any:  # fmt: skip
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            bits, offset, plane, along, across, values, start, out, to = arguments
            words, numbers, sink = (
                _Memory(context, builder, signature.args[i], each) for i, each in ((0, bits), (5, values), (7, out))
            )
            count = cgutils.unpack_tuple(
                builder, context.make_array(signature.args[5])(context, builder, values).shape, 1
            )[0]
            begin = [numbers.everywhere(start)] + [ir.Constant(numbers.vector, None)] * (sums - 1)
            totals = [[cgutils.alloca_once_value(builder, first) for _ in range(groups)] for first in begin]
            with cgutils.for_range(builder, builder.udiv(count, _INTEGER(LANES))) as loop:
                first = builder.mul(loop.index, _INTEGER(LANES))
                row = builder.add(offset, builder.mul(loop.index, along))
                for i in range(LANES):
                    number = numbers.everywhere(numbers.one(builder.add(first, _INTEGER(i))))
                    place = row
                    for total in totals[i % sums]:
                        mask = builder.bitcast(words.one(place), ir.VectorType(ir.IntType(1), LANES))
                        before = builder.load(total)
                        builder.store(builder.select(mask, builder.fadd(before, number), before), total)
                        place = builder.add(place, across)
                    row = builder.add(row, plane)
            for g in range(groups):
                total = builder.load(totals[0][g])
                for others in totals[1:]:
                    total = builder.fadd(total, builder.load(others[g]))
                sink.store(total, builder.add(to, _INTEGER(g * LANES)))
            return context.get_dummy_value()

        places = types.intp, types.intp, types.intp, types.intp
        return types.void(bits, *places, values, values.dtype, out, types.intp), code

    return masked


_four, _single = _masked(4, 2), _masked(1, 4)


@compiled
def signed_sums(bits: Any, plane: int, along: int, across: int, twice: Any, out: Any) -> None:
    """Write Σ_k ±v_k for each of `out`'s lanes: + where the lane's bit of k is set.

    Parameters
    ----------
    bits
        Of uint16; those of k = 16 a + i and of the lanes from 16 g on are at i plane + a along + g across.
    twice
        2 v, (16 a,).
    out
        (16 g,).
    """
    total = twice.dtype.type(0)
    for k in range(len(twice)):
        total += twice[k]
    start, group, groups = total * twice.dtype.type(-0.5), 0, len(out) // LANES
    while group + 4 <= groups:
        _four(bits, group * across, plane, along, across, twice, start, out, group * LANES)
        group += 4
    while group < groups:
        _single(bits, group * across, plane, along, across, twice, start, out, group * LANES)
        group += 1


@intrinsic
def _tile(
    typing: Any, a: Any, a_start: Any, a_row: Any, a_along: Any, b: Any, b_start: Any, b_along: Any, count: Any,
    out: Any, to: Any, out_row: Any,
) -> Any:  # fmt: skip
    """Write four rows of 32 lanes of a product."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, a_start, a_row, a_along, b, b_start, b_along, count, out, to, out_row = arguments
        left, right, sink = (
            _Memory(context, builder, signature.args[i], each) for i, each in ((0, a), (4, b), (8, out))
        )
        zero = ir.Constant(left.vector, None)
        tile = [[cgutils.alloca_once_value(builder, zero) for _ in range(2)] for _ in range(4)]
        with cgutils.for_range(builder, count) as loop:
            row = builder.add(b_start, builder.mul(loop.index, b_along))
            lanes = [right.load(builder.add(row, _INTEGER(g * LANES))) for g in range(2)]
            place = builder.add(a_start, builder.mul(loop.index, a_along))
            for totals in tile:
                number = left.everywhere(left.one(place))
                for total, vector in zip(totals, lanes, strict=True):
                    product = builder.fmul(number, vector, flags=("contract",))
                    builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
                place = builder.add(place, a_row)
        for totals in tile:
            for g, total in enumerate(totals):
                sink.store(builder.load(total), builder.add(to, _INTEGER(g * LANES)))
            to = builder.add(to, out_row)
        return context.get_dummy_value()

    places = types.intp, types.intp
    return types.void(a, types.intp, *places, b, *places, types.intp, out, *places), code


@compiled
def product(a: Any, a_row: int, a_along: int, b: Any, out: Any) -> None:
    """Write `out`[r, c] = Σ_k a_rk b[k, c], (4 r, 32 c): a_rk is at r a_row + k a_along, b is (count, 32 c)."""
    count, width = b.shape
    flat_a, flat_b, flat_out = a.reshape(-1), b.reshape(-1), out.reshape(-1)
    for c in range(0, width, 32):
        for r in range(0, len(out), 4):
            _tile(flat_a, r * a_row, a_row, a_along, flat_b, c, width, count, flat_out, r * width + c, width)  # pyright: ignore[reportCallIssue]
