"""The papers of the library."""

from verify import Paper

WANG2024 = Paper(
    key="wang2024",
    citation="Wang, Wei, Hsu, Lee, Transformers Provably Learn Sparse Token Selection While Fully-Connected Nets "
    "Cannot, ICML 2024",
    arxiv="2406.06893",
    numbered_statements=61,
    disclosed=(
        "Definition 1",
        "Definition 2",
        "Definition 3",
        "Definition 4",
        "Definition 5",
        "Lemma 1",
        "Lemma 2",
        "Theorem 1",
        "Theorem 2",
        "Theorem 3",
    ),
    claims="Gradient descent teaches one layer of attention to average the few tokens that a sequence names, also at "
    "lengths not seen in training, while fully-connected nets would have to be much wider.",
    title="Transformers Provably Learn Sparse Token Selection While Fully-Connected Nets Cannot",
)

AHN2023 = Paper(
    key="ahn2023",
    citation="Ahn, Cheng, Daneshmand, Sra, Transformers learn to implement preconditioned gradient descent for "
    "in-context learning, NeurIPS 2023",
    arxiv="2306.00297",
    disclosed=(
        "Theorem 1",
        "Theorem 2",
        "Theorem 3",
        "Theorem 4",
        "Theorem 5",
        *(f"Lemma {k}" for k in range(1, 7)),
    ),
    claims="Linear transformers trained on random regression problems learn to run preconditioned gradient descent: at "
    "the global minimum of one layer, and at critical points of several.",
    title="Transformers learn to implement preconditioned gradient descent for in-context learning",
)

LI2024 = Paper(
    key="li2024",
    citation="Li, Song, Xia, Yu, Zhou, The Closeness of In-Context Learning and Weight Shifting for Softmax "
    "Regression, NeurIPS 2024",
    arxiv="2304.13276",
    disclosed=("Main theorem, weight shift", "Main theorem, data shift"),
    claims="In softmax regression a gradient step and a layer of self-attention each move the prediction by a bounded "
    "amount, and the two are close in that sense.",
    title="The Closeness of In-Context Learning and Weight Shifting for Softmax Regression",
)
