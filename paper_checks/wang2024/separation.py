"""The separation in width over the number of tokens, from the theorems, tabulated and plotted by `verify simulate`.

Nothing is trained: the numbers are values of `wang2024.separation` at each length. The value for attention is the upper
end of the enclosed width, and the value for nets is their least width.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

import verify
from verify import Curve, Enclosure, Experiment, InputError, Measurement, Parameter, Setting, Source, load_theorem

LENGTHS = Parameter("lengths", "rationals", "numbers of tokens", minimum=2)
Q = Parameter("q", "integer", "number of tokens that the query selects", minimum=2)
D = Parameter("d", "integer", "dimension of a token", minimum=1)
SHARE = Parameter("share", "rational", "the loss, as a share of d/(2q), the zero predictor's", above=0)

QUICK = tuple(map(Fraction, (20, 50, 100, 200, 500)))
KINDS = {"attention_alone": "tokens", "attention_with_query": "tokens_and_query"}


def lengths_of(settings: Mapping[str, object]) -> list[int]:
    """Return the lengths. Raises InputError unless they are increasing integers above q."""
    lengths = settings["lengths"]
    assert isinstance(lengths, tuple)
    if any(length.denominator != 1 or length <= settings["q"] for length in lengths) or list(lengths) != sorted(
        set(lengths)
    ):
        raise InputError(
            "lengths", ",".join(map(str, lengths)), f"must be integers above q = {settings['q']} that rise"
        )
    return [int(length) for length in lengths]


def over_lengths(lengths: Iterable[int], found: Mapping[str, Iterable[Measurement]]) -> dict[str, Curve]:
    """Return widths at each of the lengths as curves, by name."""
    over, at = "T: number of tokens", tuple(map(float, lengths))
    return {name: Curve(over, "width for the loss", at, tuple(measured)) for name, measured in found.items()}


def widths(settings: Mapping[str, object], *, seed: int, device: str) -> dict[str, Curve]:
    """Return the curves of the widths over the lengths; `seed` and `device` are not used.

    Raises InputError unless the lengths are increasing integers above q, and if a width is not computed.
    """
    del seed, device
    lengths = lengths_of(settings)
    theorem = load_theorem("wang2024.separation")
    found: dict[str, list[Measurement]] = {name: [] for name in (*KINDS, "fully_connected")}
    for length in lengths:
        at = {"T": length, **{name: settings[name] for name in ("q", "d", "share")}}
        for name, attend in KINDS.items():
            values = verify.check(theorem, **at, attend=attend).values
            width = values["attention_width"]
            if width is None:
                raise InputError("lengths", length, "needs more dimensions than are computed with")
            found[name].append(Measurement(float(width.upper if isinstance(width, Enclosure) else width)))
        nets = values["fully_connected_width"]  # pyright: ignore[reportPossiblyUnboundVariable]
        assert isinstance(nets, int | Fraction)
        found["fully_connected"].append(Measurement(float(nets)))
    return over_lengths(lengths, found)


separation = Experiment(
    id="wang2024.separation",
    title="Widths for one loss over T: attention with stochastic encoding, d + d_e, and nets at least",
    source=Source("Separation in width", "derived here"),
    settings=(
        Setting(
            LENGTHS,
            tuple(map(Fraction, (20, 50, 100, 200, 500))),
            tuple(map(Fraction, (20, 50, 100, 200, 500, 1000, 2000, 5000))),
        ),
        Setting(Q, 3, 3),
        Setting(D, 5, 5),
        Setting(SHARE, Fraction(1, 8), Fraction(1, 8)),
    ),
    measure=widths,
)
