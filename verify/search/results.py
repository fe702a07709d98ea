"""The results of searches, with their effort."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from verify.outcomes import (
    ClauseResult,
    Established,
    Evidence,
    Outcome,
    Trust,
    count_text,
    how_sure,
    json_numbers,
    short_text,
    times_text,
)
from verify.search.limits import EXPLORE
from verify.search.sharpness import Sharpness
from verify.search.simplify import Instance
from verify.shown import Result, Shown, Tabled

_UNREACHED = {"seconds": "not reached in time", "examples": "not reached in the time for verdicts"}
"""Descriptions of examples without a verdict, by the limit that ended the search."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ExploreResult(Result):
    """The result of a search, with its effort: examples, seconds, seed, and the cause of its end.

    `examples` counts the instances that `max_examples` limits, with the refuted one. `polished` counts the instances
    tried after them, around the nearest miss of each clause and to simplify the counterexample. A counterexample is
    always confirmed: in exact or ball arithmetic, or by the evaluation of a claim in words. It is certified if the
    re-checker accepts that it refutes the clause and satisfies the hypotheses.

    An example is `clean` if every clause of `looked_at` is known to hold there: by a float64 margin that exceeds a
    running bound of its error, by exact or ball arithmetic, or by a proof for all parameters. `refuted` is 1 or 0,
    because the first refutation ends a search. `without_value` counts the examples at which a clause has no value,
    and `undecided` the remaining examples. `not_reached` counts the undecided examples without a rigorous answer when
    the time for verdicts was over. The headline of a search without a counterexample counts only clean examples.

    `settled` lists the steps that are not searched because the certificate in the theorem's package proves them. If a
    hypothesis is dropped, no step is searched and none is listed. `in_words` lists the claims in words; if all claims
    are in words, no instance is clean. `evaluated` has the number of instances at which a claim in words with an
    evaluation was evaluated and not violated, by label.

    `smallest_margin` is the smallest float64 margin of a clause, other than an equality, that is known to hold. It is
    relative to the size of the compared sides, and 0 if it is negative by rounding alone. `nearest` is its instance.
    With a counterexample, both are those of the clause nearest to failing in float64. `needed` is the number of
    instances tried when the first refutation was found. `sharpness` has an entry for each clause that bounds one
    positive quantity by another, if no hypothesis was dropped and no counterexample found. `replayed` says that the
    counterexample was kept from an earlier search with the same seed. Of `drawn` draws, the `rejected` ones gave no
    instance, because a relation or a default left a parameter no value. They are counted by the hypothesis's label or
    the relation's text, the most frequent first.
    """

    theorem: str
    statement_digest: str
    dropped: tuple[str, ...]
    counterexample: Instance | None
    clause: ClauseResult | None
    smallest_margin: float | None
    nearest: Instance | None
    examples: int
    clean: int
    refuted: int
    undecided: int
    not_reached: int
    without_value: int
    polished: int
    needed: int | None
    sharpness: tuple[Sharpness, ...]
    stopped: str
    replayed: bool
    seconds: float
    seed: int
    drawn: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict[str, int])
    looked_at: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    in_words: tuple[str, ...] = ()
    evaluated: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def witness(self) -> Instance | None:
        """The counterexample, under the name that every kind of result uses; None without one."""
        return self.counterexample

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return self.stopped == "interrupted"

    @property
    def certified(self) -> bool:
        """Whether the re-checker accepts the counterexample."""
        return self.clause is not None and self.clause.rechecked

    @property
    def exit_code(self) -> int:
        """1 for a counterexample, 0 if at least a tenth of the examples reached is clean, else 3."""
        if self.counterexample is not None:
            return Outcome.REFUTED.exit_code
        return (Outcome.VERIFIED if self.found_clean else Outcome.INCONCLUSIVE).exit_code

    @property
    def found_clean(self) -> bool:
        """Whether enough examples are clean for the absence of a counterexample to count."""
        return bool(self.clean) and self.clean >= EXPLORE.fewest_clean * self._reached

    @property
    def _reached(self) -> int:
        return self.examples - self.not_reached

    @property
    def headline(self) -> str:
        """The headline of a search that found no counterexample."""
        if self.examples and self.without_value == self.examples:
            return "undecided: at every instance a clause has no value"
        if not self.found_clean:
            few = f"{self.clean} of {count_text(self._reached, 'instance')} {'is' if self.clean == 1 else 'are'} clean"
            return f"undecided: {few}, fewer than a tenth" if self.clean else "undecided: no instance is clean"
        return f"no counterexample found in {count_text(self.clean, 'clean instance')}"

    @property
    def verdicts(self) -> str:
        """The number of examples with each verdict, as text, without zeros."""
        counts = {"clean": self.clean, "refuted": self.refuted, "undecided": self.undecided}
        counts["without a value"] = self.without_value
        counts["undecided"] -= self.not_reached
        counts[_UNREACHED.get(self.stopped, "not reached")] = self.not_reached
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count)

    @property
    def dead_ends(self) -> str:
        """The number of rejected draws and their most frequent cause, if more than half were rejected; else ""."""
        count = sum(self.rejected.values())
        if 2 * count <= self.drawn:
            return ""
        label, times = next(iter(self.rejected.items()))
        return f"{count} of {count_text(self.drawn, 'draw')} were rejected, most often by {label} ({times})"

    def to_json(self) -> dict[str, object]:
        """Return the object of `verify explore --json`, without `schema` and `version`."""
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "dropped": list(self.dropped),
            "counterexample": None if self.counterexample is None else json_numbers(self.counterexample),
            "clause": self.clause.label if self.clause else None,
            "certified": self.certified,
            "trusts": [trust._asdict() for trust in self.clause.trusts] if self.clause else [],
            "witness": json_numbers(self.clause.witness) if self.clause else None,
            "detail": self.clause.detail if self.clause else self.headline,
            "smallest_margin": self.smallest_margin,
            "nearest": None if self.nearest is None else json_numbers(self.nearest),
            "sharpness": [bound.to_json() for bound in self.sharpness],
            **{name: getattr(self, name) for name in ("examples", "clean", "refuted", "undecided", "without_value")},
            **{name: getattr(self, name) for name in ("not_reached", "polished", "needed", "stopped", "replayed")},
            "drawn": self.drawn,
            "rejected": dict(self.rejected),
            "looked_at": list(self.looked_at),
            "settled": list(self.settled),
            "in_words": list(self.in_words),
            "evaluated": dict(self.evaluated),
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
        }


NOTHING_LEFT = "nothing is left beyond"
_FURTHEST = 3
"""Maximum number of values with certified claims that a line of text names."""


@dataclass(frozen=True, repr=False)
class ExtendedRange(Shown):
    """The range of the claims beyond one hypothesis, along one of its parameters, with the other parameters as given.

    Parameters
    ----------
    hypothesis, statement
        The hypothesis's label and text.
    parameter, relation, end
        The bound that the hypothesis puts on the parameter at the instance: `parameter relation end`, where the
        relation is `<=`, `<`, `>=` or `>`. `end` is None if the bound is not found.
    given
        The parameter's own value at the instance, if any.
    established, by
        The standing of the claims beyond the end, None if nothing shows them; the theorems that show them, none if the
        theorem's own argument does.
    shown_to, shown_open
        The last value up to which the claims are shown, None for no limit; whether that value is excluded.
    domain_ends
        Whether the theorem's domain ends at `shown_to` too, so that the claims are shown on all of it.
    supposing
        Other hypotheses on which `established` rests. They do not depend on the parameter, and the instance does not
        decide them.
    verified_at
        Values past `shown_to`, or past `end`, at which all claims were certified or proved under the other hypotheses.
    clause, violated
        The claim of a certified refutation, and the refuting value found nearest to the end; None without one.
    inside
        Whether the hypothesis holds at `violated`, so that the instance refutes the theorem.
    met
        The value at which a violation was found but not certified.
    looked
        Whether a violation was looked for. `effort` describes the search; `further` describes the open part if no
        violation was found.
    why
        The reason why the end, or the standing of the claims beyond it, is not known.
    unreadable
        Whether an inference that might show more cannot be read; `why` has the error.
    certificate
        The violation's certificate, for `verify recheck`.
    trusts, verified_trusts
        The trusts of the violation and of the certified values, beyond the re-checker's core.
    """

    hypothesis: str
    statement: str
    parameter: str | None = None
    relation: str = ""
    end: Fraction | int | None = None
    given: Fraction | int | None = None
    established: Established | None = None
    by: tuple[str, ...] = ()
    shown_to: Fraction | int | None = None
    shown_open: bool = False
    domain_ends: bool = False
    supposing: tuple[str, ...] = ()
    verified_at: tuple[Fraction | int, ...] = ()
    clause: str | None = None
    violated: Fraction | int | None = None
    inside: bool = False
    met: Fraction | int | None = None
    looked: bool = False
    effort: str = ""
    further: str = ""
    why: str = ""
    unreadable: bool = False
    certificate: Mapping[str, object] | None = field(default=None, repr=False)
    trusts: tuple[Trust, ...] = ()
    verified_trusts: tuple[Trust, ...] = ()

    @property
    def unlimited(self) -> bool:
        """Whether the claims are shown up to the end of the theorem's domain along the parameter."""
        return self.established is not None and (self.shown_to is None or self.domain_ends)

    def to_json(self) -> dict[str, object]:
        """Return the range as an object of `verify necessity --json` and `verify conditions --json`."""
        numbers = {name: getattr(self, name) for name in ("end", "given", "shown_to", "violated", "met")}
        numbers["verified_at"] = list(self.verified_at)
        return {
            **{name: getattr(self, name) for name in ("hypothesis", "statement", "parameter", "relation")},
            **json_numbers(numbers),
            "shown_open": self.shown_open,
            "unlimited": self.unlimited,
            "for_all_parameters": self.established and self.established.standing,
            "inferences_argued": len(self.established.inferences) if self.established else 0,
            "by": list(self.by),
            "supposing": list(self.supposing),
            **{name: getattr(self, name) for name in ("clause", "inside", "looked", "effort", "further", "why")},
            "for_all_trusts": [trust._asdict() for trust in sorted(self.established.trusts)]
            if self.established
            else [],
            "trusts": [trust._asdict() for trust in self.trusts],
            "verified_trusts": [trust._asdict() for trust in self.verified_trusts],
        }

    def text(self) -> str:
        """Return the range in one line of text, with ratios of values to the hypothesis's end."""
        if self.end is None:
            return f"{self.hypothesis}: {self.statement}; {self.why}"
        known = f"{self.hypothesis}: {self.parameter} {self.relation} {short_text(self.end)}"
        given = "" if self.given is None or self._ratio(self.given) == "" else f", given {self._shown(self.given)}"
        return "; ".join([known + given, *self._parts()])

    def _parts(self) -> Iterator[str]:
        if self.established is not None:
            by = f" by {', '.join(self.by) or 'its own argument, which does not use it'}"
            text = self.established.text(briefly=True).removeprefix(self.established.standing)
            how = f"{self.established.standing}{by}{text}"
            how += (
                f", where {', '.join(self.supposing)} hold" + "s" * (len(self.supposing) == 1) if self.supposing else ""
            )
            yield f"holds {self._far()}, {how}"
            if self.unlimited:
                return
        else:
            yield self.why or "nothing is proved beyond it"
            if self.why == NOTHING_LEFT:
                return
        if self.verified_at:
            nearer = len(self.verified_at) - _FURTHEST
            more = f" and {nearer} nearer value{'s' * (nearer > 1)}" if nearer > 0 else ""
            sure = how_sure(Evidence.CERTIFIED, self.verified_trusts)
            yield f"all claims {sure} at {', '.join(map(self._shown, self.verified_at[-_FURTHEST:]))}{more}"
        if self.violated is not None and self.inside:
            yield (
                f"{self.clause} is refuted at {short_text(self.violated)}, where {self.hypothesis} holds: "
                f"a counterexample to the theorem, {how_sure(Evidence.CERTIFIED, self.trusts)}"
            )
        elif self.violated is not None:
            yield f"{self.clause} refuted at {self._shown(self.violated)}, {how_sure(Evidence.CERTIFIED, self.trusts)}"
            yield "the range between these values is open"
        elif self.met is not None:
            yield f"a violation at {self._shown(self.met)} was met and is not certified"
            yield "open beyond"
        elif self.looked:
            yield f"no violation found ({self.effort}): {self.further or 'open beyond'}"
        else:
            yield self.further or "open beyond: `verify necessity` with all values looks for a violation"

    def _far(self) -> str:
        if self.shown_to is None:
            return "without limit"
        upward = self.relation in ("<=", "<")
        if self.shown_open:
            far = f"for {self.parameter} {'<' if upward else '>'} {self._shown(self.shown_to)}"
        else:
            far = f"{'up' if upward else 'down'} to {self._shown(self.shown_to)}"
        return f"{far}, as far as its domain goes" if self.domain_ends else far

    def _shown(self, value: Fraction | int) -> str:
        ratio = self._ratio(value)
        return f"{short_text(value)} ({ratio})" if ratio else short_text(value)

    def _ratio(self, value: Fraction | int) -> str:
        """Return the ratio of a value to the end; "" if the value is not past the end, or the value or end is ≤ 0."""
        assert self.end is not None
        upward = self.relation in ("<=", "<")
        if self.end <= 0 or value <= 0 or (value <= self.end if upward else value >= self.end):
            return ""
        ratio = Fraction(value) / self.end if upward else Fraction(self.end) / value
        return f"{times_text(ratio)} times" + ("" if upward else " below")


@dataclass(frozen=True, kw_only=True, repr=False)
class ExtendedRanges(Result, Tabled):
    """The ranges of a theorem's claims beyond each parametric hypothesis, at a (possibly partial) instance."""

    theorem: str
    statement_digest: str
    instance: Instance
    extended_ranges: tuple[ExtendedRange, ...]
    seconds: float
    interrupted: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the object of `verify necessity --json` with values, without `schema` and `version`."""
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "instance": json_numbers(self.instance),
            "reaches": [each.to_json() for each in self.extended_ranges],
            "seconds": round(self.seconds, 3),
            "interrupted": self.interrupted,
        }
