"""The numbers that bound each search, with the reason for each."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class ExploreLimits:
    """The numbers of a search for a counterexample."""

    # Wall-clock time where no other is given, and instances where no other number is given.
    seconds: float = 30
    max_examples: int = 1000
    # Part of the time in which the certificate's steps are re-checked; those not re-checked are searched.
    settling: float = 0.25

    # Instances in general position, and around the nearest misses, before any draw: a quarter of all at most, or so
    # many where that is more, and half of all at most.
    before_draws: int = 50
    # Instances that the leaps from each clause's nearest miss may try, and the steps after them.
    leaps: int = 12
    steps: int = 30
    # Share of draws near a nearest miss: half of the draws cost more than they found.
    near: float = 0.25
    # Draws before their results guide others: so many, or, where that is more, this part of the instances tried.
    drawn_at_once: int = 64
    drawn_share: float = 0.25
    # Draws in a row that meet a dead end or a tried instance, after which little is left to draw.
    fruitless: int = 500

    # Maximum number of instances of the descent from each clause's nearest miss.
    polished: int = 300
    # Parts of a value by which the descent moves; the last moves any integer by 1.
    shares: tuple[Fraction, ...] = tuple(Fraction(1, 2**k) for k in (1, 3, 6, 10, 15, 21, 28, 40, 60))
    # Seconds for the nearest miss of each clause where floats see nothing wrong: it is seldom refuted.
    nearest_seconds: float = 1
    # The nearest miss is shown by the simplest instance whose relative margin is larger by no more than this.
    as_near: float = 1e-9

    # Orders in which parameters are drawn that are looked at: all those of six.
    orders: int = 720
    # The same before any draw, for relations that are solved exactly.
    quick_orders: int = 24
    # Walks by which an order's dead ends are counted.
    trials: int = 40
    # Walks to an instance in general position: the first that meets no dead end.
    walks: int = 5
    # Entries of a list that is drawn.
    longest: int = 5
    # How often a number of an instance near another one is that one's, or beside it, and the power of 2 by which that
    # is divided at most to move it.
    kept: float = 0.75
    halvings: int = 20
    # Factor by which a leap goes, where no bound is nearer: a constant that is wrong shows at large values.
    far: int = 16

    # Instances that are tried to make one simple: each takes an evaluation of the clause.
    simpler: int = 300
    # The same where margins mislead: each takes a decision in rigorous arithmetic.
    confirmed: int = 60
    # Relative distances at which the simplest number near a value is tried, the farthest first, and that of a small
    # step.
    distances: tuple[Fraction, ...] = tuple(Fraction(1, k) for k in (1, 2, 10, 100))
    small_distance: Fraction = Fraction(1, 10_000)
    # Simpler values of each of two parameters that are tried together: nine pairs of them.
    paired: int = 3

    # The part of the time that is left for verdicts on the instances tried, and where float64 or one proof gives most.
    verdicts: float = 0.1
    few_verdicts: float = 0.02
    # Seconds for verdicts, out of the rest of the time; where the search itself took longer, as long again.
    least_verdicts: float = 1
    # For one instance that seems to be a counterexample: when it is met, and, where that does not decide it, after the
    # draws, for which part of the time is left then.
    suspect_seconds: float = 2
    confirm_seconds: float = 10
    confirming: float = 0.25
    # For one clause at one instance, round by round: quick clauses are decided before slow ones are begun.
    clause_seconds: tuple[float, ...] = (0.1, 1, 10)
    # A round gives a clause up that was not decided in time at so many instances in a row.
    misses: int = 3
    # The part of the rest of the time in which a proof for all parameters is looked for, for a clause.
    proof_share: float = 0.25
    # The part of the time in which a recursion is followed; in the rest it is re-checked.
    followed: float = 0.6
    # Seconds after the time is over at which code that does not look at the clock is ended.
    grace: float = 0.3
    # The margin of a clause that seemed to fail and does not, or is not decided: large, so that nothing is steered by
    # it.
    rounded: float = 1
    # Number of instances at which a clause is decided exactly since its limit degenerates there, and floats have no
    # value.
    degenerate: int = 40
    # Instances that are timed before any is sent to other processes; seconds of work that are worth sending; seconds of
    # work sent at once, and instances at most.
    timed: int = 3
    worth_sending: float = 0.5
    sent_seconds: float = 0.2
    most_sent: int = 512
    # The part of the examples reached that has to be clean: else it says nothing that none refutes.
    fewest_clean: Fraction = Fraction(1, 10)


@dataclass(frozen=True)
class NecessityLimits:
    """The numbers of a search for violations without a hypothesis, and for the range of claims beyond it."""

    # To look, for each hypothesis, where no other time is given.
    seconds: float = 60
    # For one check on the way; a clause that is not decided by then is no violation.
    check_seconds: float = 10
    # For a check or a search that is begun when the time is over.
    least_seconds: float = 0.1
    # The part of the time that there is, if need be after it, to certify a violation.
    certifying: float = 0.4

    # Distances past the hypothesis at which to look from the example, relative to its end.
    past: tuple[Fraction, ...] = tuple(map(Fraction, ("1/50", "1/4", "1", "4", "100")))
    # Values that are tried past the end, each twice as far as the one before, relative to the hypothesis's end.
    doublings: int = 24
    # Values that are tried towards the end of a domain, each half as far from it as the one before.
    closing: int = 5

    # Halvings of the way from the hypothesis's end to the violation: two integers are less than 2^61 apart.
    halvings: int = 64
    # Relative distance up to which two rationals are not told apart: each halving takes a check.
    close: Fraction = Fraction(1, 100)
    # Relative distance at which a simpler violation is looked for.
    nearby: Fraction = Fraction(1, 10**6)
    # Searches at smaller factors, each in half of the time that is left.
    rounds: int = 4
    # Two factors are told apart where their ratio exceeds this.
    tight: float = 1.05


@dataclass(frozen=True)
class ProveLimits:
    """The numbers of `prove`: proofs, and then a search where a claim stays open."""

    # For both, where no other time is given, and the part of it to prove in.
    seconds: float = 60
    proving: float = 0.6
    # The work that each search for a deduction may take, in columns of linear programs: some ten seconds.
    work: int = 40_000
    # Instances that are searched where a claim is not proved: `explore` goes farther.
    max_examples: int = 100
    # The same where all claims are argued.
    argued_examples: int = 2
    # Instances that claims in words are evaluated at, the part of the time for that, the seconds that one may take,
    # and the trials that each draws.
    instances_in_words: int = 200
    in_words: float = 0.15
    evaluation: float = 1
    draws: int = 100


@dataclass(frozen=True)
class MutationLimits:
    """The numbers of the attempts against one mutant; mutants are many."""

    # For the check at the theorem's example.
    check_seconds: float = 30
    # For the search that follows, where no other time is given, and its instances.
    seconds: float = 6
    max_examples: int = 300


EXPLORE, NECESSITY, PROVE, MUTATION = ExploreLimits(), NecessityLimits(), ProveLimits(), MutationLimits()
