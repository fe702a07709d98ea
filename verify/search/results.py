"""What a search found, and what it took."""

from dataclasses import dataclass

from verify.outcomes import ClauseResult, Outcome, json_numbers
from verify.search.sharpness import Sharpness
from verify.search.simplify import Instance
from verify.shown import Result


@dataclass(frozen=True, kw_only=True, repr=False)
class ExploreResult(Result):
    """What a search found; the effort (examples, seconds, seed, what ended it) is part of it.

    `examples` are the instances that `max_examples` limits, `polished` those tried after them, beside the nearest miss
    of each clause and to make what was found simple. A counterexample is always confirmed in exact or ball arithmetic;
    it is certified where the re-checker accepts that it refutes the clause and keeps the hypotheses.
    `smallest_margin` is the
    smallest float64 margin met, relative to the size of what is compared, `nearest` where it was
    met. `needed` is the number of instances up to the first one that was refuted, `undecided` how often a
    clause seemed to fail at one and no arithmetic decided; `sharpness` has an entry for each clause that
    bounds one quantity by another, where nothing was dropped and nothing found. `replayed`: what was found
    was kept from an earlier search with the same seed. `in_words` are claims that nothing searches.
    """

    theorem: str
    statement_digest: str
    dropped: tuple[str, ...]
    counterexample: Instance | None
    clause: ClauseResult | None
    smallest_margin: float | None
    nearest: Instance | None
    examples: int
    polished: int
    needed: int | None
    undecided: int
    sharpness: tuple[Sharpness, ...]
    stopped: str
    replayed: bool
    seconds: float
    seed: int
    in_words: tuple[str, ...] = ()

    @property
    def witness(self) -> Instance | None:
        """The counterexample, by the name that it has in every result; None where there is none."""
        return self.counterexample

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.stopped == "interrupted"

    @property
    def certified(self) -> bool:
        """Whether the re-checker accepts the counterexample."""
        return self.clause is not None and self.clause.rechecked

    @property
    def exit_code(self) -> int:
        """1 for a counterexample, 0 for none."""
        return Outcome.VERIFIED.exit_code if self.counterexample is None else Outcome.REFUTED.exit_code

    def to_json(self) -> dict[str, object]:
        """Return the object of `verify explore --json`, without `schema` and `version`."""
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "dropped": list(self.dropped),
            "counterexample": None if self.counterexample is None else json_numbers(self.counterexample),
            "clause": self.clause.label if self.clause else None,
            "certified": self.certified,
            "witness": json_numbers(self.clause.witness) if self.clause else None,
            "detail": self.clause.detail if self.clause else "no counterexample found",
            "smallest_margin": self.smallest_margin,
            "nearest": None if self.nearest is None else json_numbers(self.nearest),
            "sharpness": [bound.to_json() for bound in self.sharpness],
            **{
                name: getattr(self, name)
                for name in ("examples", "polished", "needed", "undecided", "stopped", "replayed")
            },
            "in_words": list(self.in_words),
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
        }
