"""The numerical limits of each search, with the reason for each."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class ExploreLimits:
    """The limits of a search for a counterexample."""

    # Default wall-clock time in seconds, and default maximum number of instances.
    seconds: float = 30
    max_examples: int = 1000
    # Fraction of the time in which the certificate's steps are re-checked; if it takes longer, all steps are searched.
    settling: float = 0.25

    # Instances tried before any draw (suspects, in general position, around the nearest misses): at most a quarter of
    # `max_examples`, or this number if that is larger, but then at most half of them.
    before_draws: int = 50
    # Maximum number of instances tried by leaps from each clause's nearest miss, and by the steps after them.
    leaps: int = 12
    steps: int = 30
    # Fraction of draws near a nearest miss. A fraction of one half did not pay off.
    near: float = 0.25
    # Number of draws before their results guide later ones: this number, or this fraction of the instances tried if
    # that is larger.
    drawn_at_once: int = 64
    drawn_share: float = 0.25
    # Number of draws in a row without a new instance after which drawing ends: little is left to draw.
    fruitless: int = 500

    # Maximum number of instances of the descent from each clause's nearest miss.
    polished: int = 300
    # Relative step sizes of the descent; the last moves every integer by 1.
    shares: tuple[Fraction, ...] = tuple(Fraction(1, 2**k) for k in (1, 3, 6, 10, 15, 21, 28, 40, 60))
    # Seconds to decide a clause at its nearest miss if its float64 margin is positive: it is seldom refuted there.
    nearest_seconds: float = 1
    # The nearest miss is replaced by the simplest instance whose relative margin is larger by at most this number.
    as_near: float = 1e-9

    # Maximum number of orders of the parameters among which a plan is chosen: all orders of six parameters.
    orders: int = 720
    # Maximum number of orders among which the plan before any draw is chosen, by their relations solved exactly.
    quick_orders: int = 24
    # Number of random walks in which the dead ends of an order are counted.
    trials: int = 40
    # Maximum number of walks for one instance in general position; the first walk without a dead end gives it.
    walks: int = 5
    # Maximum number of entries of a list that is drawn.
    longest: int = 5
    # In a draw near an instance: the probability that a number is the instance's number or close to it; and the largest
    # k such that the number is moved by a fraction 2^-k of itself.
    kept: float = 0.75
    halvings: int = 20
    # Factor of a leap: without an end, a number moves by this many times its size (large values reveal a wrong
    # constant); its distance from an open end is divided by the factor.
    far: int = 16

    # Maximum number of instances tried to simplify one; each takes a float64 evaluation of the clause.
    simpler: int = 300
    # Maximum number of these instances if margins mislead; each takes a decision in rigorous arithmetic.
    confirmed: int = 60
    # Relative distances within which the simplest number near a value is tried, the largest first; and the distance of
    # a small step.
    distances: tuple[Fraction, ...] = tuple(Fraction(1, k) for k in (1, 2, 10, 100))
    small_distance: Fraction = Fraction(1, 10_000)
    # Number of simpler values of each of two parameters that are tried together: nine pairs.
    paired: int = 3

    # Fraction of the time reserved for verdicts on the instances tried; and the fraction if float64 or one proof
    # decides each clause.
    verdicts: float = 0.1
    few_verdicts: float = 0.02
    # Verdicts may take this many seconds, or as long as the search took if that is longer, within the time left.
    least_verdicts: float = 1
    # Seconds to decide a clause at a seeming counterexample when it is found; seconds after the draws if it is not
    # decided by then; and the fraction of the time that the draws leave for this.
    suspect_seconds: float = 2
    confirm_seconds: float = 10
    confirming: float = 0.25
    # Seconds to decide one clause at one instance, in each round. Quick clauses are decided before slow ones.
    clause_seconds: tuple[float, ...] = (0.1, 1, 10)
    # Number of instances in a row without a decision in time after which a round gives up a clause.
    misses: int = 3
    # Fraction of the time left in which a proof of a clause for all parameters is looked for.
    proof_share: float = 0.25
    # Fraction of the time in which a recursion is followed; in the rest it is re-checked.
    followed: float = 0.6
    # Seconds after the deadline at which code that does not check the clock is stopped.
    grace: float = 0.3
    # Margin given to a clause that seemed to fail and then held or stayed undecided: large, so that it does not steer
    # the search.
    rounded: float = 1
    # Maximum number of rigorous decisions of clauses with a limit that have no value in float64, for example because
    # the limit degenerates.
    degenerate: int = 40
    # Number of instances that are timed before any is sent to other processes; least seconds of work that are sent;
    # seconds of work in one message; and the maximum number of instances in it.
    timed: int = 3
    worth_sending: float = 0.5
    sent_seconds: float = 0.2
    most_sent: int = 512
    # Fraction of the examples reached that must be clean for the absence of a counterexample to count.
    fewest_clean: Fraction = Fraction(1, 10)


@dataclass(frozen=True)
class NecessityLimits:
    """The limits of a search for violations without a hypothesis, and for the range of claims beyond it."""

    # Default seconds of search for each hypothesis.
    seconds: float = 60
    # Maximum seconds of search for a hypothesis without which an argument establishes the claims.
    beside_argument: float = 5
    # Maximum seconds of one check during the search; a clause not decided by then is not a violation.
    check_seconds: float = 10
    # Minimum seconds of a check or search, granted even after the deadline.
    least_seconds: float = 0.1
    # Fraction of the time granted to certify a violation, even after the deadline.
    certifying: float = 0.4

    # Distances past the hypothesis's end, relative to the end, of the values tried from the example.
    past: tuple[Fraction, ...] = tuple(map(Fraction, ("1/50", "1/4", "1", "4", "100")))
    # Number of values tried past the hypothesis's end, each twice as far as the previous value.
    doublings: int = 24
    # Maximum number of values tried towards the end of a domain, each half as far from the end as the previous value;
    # the end is included.
    closing: int = 5

    # Maximum number of bisections between the hypothesis's end and the violation: two integers are less than 2^61
    # apart.
    halvings: int = 64
    # Relative distance at which the bisection between two rationals ends: each step takes a check.
    close: Fraction = Fraction(1, 100)
    # Relative distance within which a shorter number is tried as the violation.
    nearby: Fraction = Fraction(1, 10**6)
    # Maximum number of searches at smaller factors, each in half of the time left.
    rounds: int = 4
    # Ratio of two factors below which the search between them ends.
    tight: float = 1.05


@dataclass(frozen=True)
class ProveLimits:
    """The limits of `prove`: proofs, then a search for a counterexample to the claims not proved."""

    # Default seconds for proofs and search together, and the fraction of them for proofs.
    seconds: float = 60
    proving: float = 0.6
    # Maximum work of each search for a deduction, in columns of linear programs: some ten seconds.
    work: int = 40_000
    # Maximum number of instances searched if a claim is open: `explore` goes farther.
    max_examples: int = 100
    # Maximum number of instances searched if no claim is open.
    argued_examples: int = 2
    # Maximum number of instances at which claims in words are evaluated; the fraction of the time for that; maximum
    # seconds of one evaluation; and its number of random trials.
    instances_in_words: int = 200
    in_words: float = 0.15
    evaluation: float = 1
    draws: int = 100


@dataclass(frozen=True)
class MutationLimits:
    """The limits of the attempts to refute one mutant; they are small, because there are many mutants."""

    # Maximum seconds of the check at the theorem's example.
    check_seconds: float = 30
    # Default seconds and default maximum number of instances of the search that follows.
    seconds: float = 6
    max_examples: int = 300


EXPLORE, NECESSITY, PROVE, MUTATION = ExploreLimits(), NecessityLimits(), ProveLimits(), MutationLimits()
