"""Phase diagrams: step sizes at which Theorem 1's claim holds, and dimensions that stochastic encodings need."""

from verify import Diagram

step_size = Diagram(
    id="wang2024.step_size",
    title="Theorem 1 over the step size: its claim holds far beyond its hypothesis, and not everywhere",
    text="Theorem 1 asks for a step size of at most 1/20 here: filled marks, up to the dashed line. Its claim is "
    "verified far to the right of that too: open marks. Beyond η = 2q, the solid line, theory says that the approach "
    "to zero loss is unstable: the loss rises again, or the run goes into a cycle, and the claim is refuted. Around "
    "and beyond that line some instances are not decided in the time given.",
    theorem="wang2024.theorem1",
    quick={"eta": "1/20:12:7:log", "T": "9,30"},
    full={"eta": "1/40:20:24:log", "T": "9,12,16,22,30,40,55"},
    given={"q": 2, "d": 1, "eps": "1/200"},
    seconds=4,
)

encoding_dimension = Diagram(
    id="wang2024.encoding_dimension",
    title="Stochastic encoding: the dimension that a loss of 1/10 takes, over the number of tokens",
    text="At each number of tokens T, the least loss on gradient descent's set is at most 1/10 from some dimension "
    "d_e of the encodings on, and the claim is verified. The theorem names a number of dimensions that is enough, "
    "several times as large: filled marks. Where no α and C ≥ 0 on the set reach 1/10, with independent signs as "
    "encodings, the claim is refuted; some instances are not decided in the time given. The dimension that is needed "
    "grows slowly with T.",
    theorem="wang2024.theorem2",
    quick={"T": "20,40,60", "d_e": "50,170,800"},
    full={"T": "20,40,60,80,120,160,200", "d_e": "20:1280:13:log"},
    given={"q": 3, "d": 5, "eps": "1/10"},
    seconds=5,
)
