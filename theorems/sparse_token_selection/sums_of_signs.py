"""Steps for the second and the fourth moment of a sum of N independent signs, by adding one sign at a time."""

import sympy as sp

from verify import Implication, Inference

fourth, number = sp.symbols("fourth number", nonnegative=True)
epsilon, total = sp.symbols("epsilon total", real=True)
VARIABLES = (fourth, number, epsilon, total)

IS_A_SIGN = sp.Eq(epsilon**2, 1)
STEPS = (
    Implication(
        "square_with_a_sign",
        (IS_A_SIGN,),
        sp.Eq((total + epsilon) ** 2, total**2 + 1 + 2 * total * epsilon),
        says="(S + e)^2 = S^2 + 1 + 2S e for a sign e",
    ),
    Implication(
        "fourth_power_with_a_sign",
        (IS_A_SIGN,),
        sp.Eq((total + epsilon) ** 4, total**4 + 6 * total**2 + 1 + 4 * (total**3 + total) * epsilon),
        says="(S + e)^4 = S^4 + 6S^2 + 1 + 4 (S^3 + S) e for a sign e",
    ),
    Implication(
        "next_fourth_moment",
        (sp.Eq(fourth, 3 * number**2 - 2 * number),),
        sp.Eq(fourth + 6 * number + 1, 3 * (number + 1) ** 2 - 2 * (number + 1)),
        says="a fourth moment of 3N^2 - 2N, and 6N + 1, are together 3 (N+1)^2 - 2 (N+1)",
    ),
)
SUMS_OF_SIGNS = Inference(
    "sums_of_signs",
    "a sum S of N independent signs has E S² = N and E S⁴ = 3N² − 2N: terms odd in a further sign have mean 0, so "
    "that a further sign adds 1 to E S², and 6 E S² + 1 to E S⁴",
    ("sign_encoding", *(step.label for step in STEPS)),
    "induction",
)
