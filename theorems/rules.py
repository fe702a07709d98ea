"""The rules of inference, besides the engine's own, that the library's arguments name: theorems from the literature."""

from verify import Rule

BOLZANO_WEIERSTRASS = Rule(
    "Bolzano-Weierstrass",
    "a bounded sequence of points has a convergent subsequence",
    "Rudin 1976, Theorem 3.6",
    "analysis",
)
BOUNDED_CONVERGENCE = Rule(
    "bounded convergence",
    "if functions with a common bound converge at every point, their means converge to the mean of the limit",
    "Rudin 1987, Real and Complex Analysis, Theorem 1.34",
    "probability",
)
CHAIN_RULE = Rule(
    "chain rule",
    "the slope of f(g_1(t), …, g_n(t)) in t is the sum over i of ∂f/∂g_i times the slope of g_i",
    "Rudin 1976, Theorem 9.15",
    "analysis",
)
CHANGE_OF_COORDINATES = Rule(
    "change of coordinates",
    "at a critical point the second derivative is the same quadratic form in any coordinates",
    "Milnor 1963, Morse Theory, section 2",
    "analysis",
)
CHANGE_OF_INTEGRATION_VARIABLE = Rule(
    "change of integration variable",
    "∫ f(s) ds = ∫ f(s(y)) s'(y) dy, over corresponding intervals",
    "Rudin 1976, Theorem 6.19",
    "analysis",
)
CHEBYSHEV_POLYNOMIALS = Rule(
    "Chebyshev polynomials",
    "the Chebyshev polynomials of the second kind, U_0 = 1, U_1 = 2y, U_{l+1} = 2y U_l − U_{l−1}, are orthogonal under "
    "the semicircle law; U_L has the zeros cos(πl/(L + 1))",
    "Szegő 1939, Orthogonal Polynomials, sections 1.12 and 4.1",
    "analysis",
)
CHEBYSHEV_SUM_INEQUALITY = Rule(
    "Chebyshev's sum inequality",
    "if x_i and y_i rise together, Σ w_i x_i y_i Σ w_i ≥ Σ w_i x_i Σ w_i y_i for weights w_i ≥ 0",
    "Hardy, Littlewood and Pólya 1952, Inequalities, section 2.17",
    "analysis",
)
CHORD = Rule(
    "chord",
    "on an interval a convex function is at most its chord",
    "Rockafellar 1970, Convex Analysis, section 4",
    "analysis",
)
CONDITIONAL_MEAN = Rule(
    "conditional mean",
    "among all functions of Y, E[Z | Y] is nearest to Z in mean square",
    "Williams 1991, Probability with Martingales, section 9.4",
    "probability",
)
CONNECTEDNESS = Rule(
    "connectedness",
    "a nonempty part of an interval that is both open and closed in it is the whole of it",
    "Rudin 1976, Theorem 2.47",
    "analysis",
)
CONVEXITY_OF_A_SQUARE = Rule(
    "convexity of a square",
    "the square of an affine function is convex, and so is a mean of convex functions",
    "Boyd and Vandenberghe 2004, Convex Optimization, section 3.2",
    "analysis",
)
CONVEX_POWERS = Rule(
    "convex powers",
    "|x|^p is convex for p ≥ 1, and a convex function of an affine one is convex",
    "Boyd and Vandenberghe 2004, sections 3.1.5 and 3.2.2",
    "analysis",
)
CONVEX_TRACE_FUNCTION = Rule(
    "convex trace function",
    "tr φ(S) is convex in the symmetric matrix S if φ is convex",
    "Carlen 2010, Trace inequalities and quantum entropy, Theorem 2.10",
    "linear algebra",
)
COUPLING = Rule(
    "coupling",
    "if P(s = 1) ≥ P(s' = 1), the signs s and s' can be drawn together so that always s ≥ s'",
    "Lindvall 1992, Lectures on the Coupling Method, section IV.1",
    "probability",
)
CUBIC_DISCRIMINANT = Rule(
    "cubic discriminant",
    "a real cubic has three distinct real roots if its discriminant is positive",
    "Cox, Galois Theory, 2012, section 1.3",
    "linear algebra",
)
DEFINITION_OF_A_LIMIT = Rule(
    "definition of a limit",
    "a sequence whose size is at most ε from some step on, for every ε > 0, tends to 0",
    "Rudin 1976, Definition 3.1",
    "definition",
)
DERIVATIVE = Rule(
    "derivative",
    "|f(x + h) − f(x) − f'(x)h|/|h| tends to 0 as h tends to 0",
    "Rudin 1976, Definition 9.11",
    "analysis",
)
DERIVATIVE_OF_A_SIMPLE_EIGENVALUE = Rule(
    "derivative of a simple eigenvalue",
    "if symmetric matrices M are smooth in t, so are a simple eigenvalue λ and its unit eigenvector v, and the slope "
    "of λ in t is v'Nv, N the slope of M",
    "Horn and Johnson 2013, Theorem 6.3.12",
    "linear algebra",
)
DESCENT_LEMMA = Rule(
    "descent lemma",
    "if the Hessian is at most β along a gradient step of size s, the function falls by at least "
    "s(1 − βs/2)|gradient|²",
    "Nesterov 2018, Lectures on Convex Optimization, Lemma 1.2.3",
    "analysis",
)
DESCENT_OF_ANALYTIC_FUNCTIONS = Rule(
    "descent of analytic functions",
    "steps x' of an analytic f with f(x) − f(x') ≥ σ|∇f(x)| |x' − x|, σ > 0, and x' = x where f(x') = f(x), "
    "converge or tend to infinity",
    "Absil, Mahony and Andrews 2005, SIAM Journal on Optimization 16, 531-547, Theorem 3.2",
    "analysis",
)
DIFFERENTIATION_UNDER_THE_MEAN = Rule(
    "differentiation under the mean",
    "the gradient of a mean is the mean of the gradients, if one integrable function bounds the gradients nearby",
    "Williams 1991, section A16.1",
    "probability",
)
DUAL_BASIS = Rule(
    "dual basis",
    "for linearly independent vectors e_1 … e_n there are vectors f_1 … f_n with f_i'e_j = 1 for i = j, else 0",
    "Axler 2015, Linear Algebra Done Right, section 3.F",
    "definition",
)
EXCHANGEABILITY = Rule(
    "exchangeability",
    "if permutations of variables preserve their joint law, every choice of k of them has the same joint law",
    "elementary",
    "probability",
)
EXCHANGES_OF_NEIGHBOURS = Rule(
    "exchanges of neighbours",
    "every permutation is a product of exchanges of neighbours",
    "Knuth 1998, The Art of Computer Programming, volume 3, section 5.1.1",
    "linear algebra",
)
EXTREME_VALUE = Rule(
    "extreme value theorem",
    "a continuous function on a closed interval attains its least value",
    "Rudin 1976, Theorem 4.16",
    "analysis",
)
GAUSSIAN_CONDITIONING = Rule(
    "Gaussian conditioning",
    "of two jointly Gaussian vectors, one is a linear function of the other plus a vector that is independent of it",
    "Anderson 2003, An Introduction to Multivariate Statistical Analysis, section 2.5",
    "probability",
)
HALF_OF_A_VANISHING_SUM = Rule(
    "half of a vanishing sum",
    "any part of a sum that is 0 is at most half of the sum of absolute values",
    "elementary",
    "analysis",
)
HOEFFDING_LEMMA = Rule(
    "Hoeffding's lemma",
    "E e^{tX} ≤ e^{t²/8} for X of mean 0 in an interval of length 1",
    "Boucheron, Lugosi and Massart 2013, Concentration Inequalities, Lemma 2.2",
    "probability",
)
IDENTITY_OF_POLYNOMIALS = Rule(
    "identity of polynomials",
    "a polynomial that vanishes on a set of positive measure is 0",
    "Caron and Traynor 2005, The zero set of a polynomial",
    "linear algebra",
)
INDEFINITE_HESSIAN = Rule(
    "indefinite Hessian",
    "a critical point where the Hessian has eigenvalues of both signs is a saddle",
    "Nocedal and Wright 2006, Numerical Optimization, Theorem 2.3",
    "analysis",
)
INTERMEDIATE_VALUE = Rule(
    "intermediate value",
    "a continuous function takes every value between two of its values",
    "Rudin 1976, Theorem 4.23",
    "analysis",
)
INVARIANCE_OF_THE_LAW = Rule(
    "invariance of the law",
    "the mean of a function does not change when its argument is mapped by a transformation that preserves the law",
    "Billingsley 1995, Probability and Measure, Theorem 16.13",
    "probability",
)
LINEAR_RECURRENCE = Rule(
    "linear recurrence",
    "a sequence b_t >= 0 with b_{t+1} <= c b_t + k from some t on, where 0 <= c < 1, is bounded",
    "elementary",
    "analysis",
)
LINEARITY_OF_THE_TRACE = Rule(
    "linearity of the trace",
    "the trace is linear, and the trace of a projection is its rank",
    "Horn and Johnson 2013, section 1.2",
    "linear algebra",
)
LOWER_BOUND_APPROACHED = Rule(
    "lower bound approached", "a lower bound to which values tend is the infimum", "elementary", "definition"
)
MARCHENKO_PASTUR_LAW = Rule(
    "Marchenko-Pastur law",
    "the mean spectral moments of XX'/n, of dimension d, tend to the moments of the law if d/n → c",
    "Bai and Silverstein 2010, Spectral Analysis of Large Dimensional Random Matrices, section 3.1",
    "probability",
)
MATRIX_DETERMINANT_LEMMA = Rule(
    "matrix determinant lemma",
    "det(D + uv') = det D + v' adj(D) u",
    "Horn and Johnson 2013, section 0.8.5",
    "linear algebra",
)
MEAN_VALUE_INEQUALITY = Rule(
    "mean value inequality",
    "|f(x) − f(y)| ≤ sup |f'| |x − y|, with the supremum over the segment from x to y",
    "Rudin 1976, Principles of Mathematical Analysis, Theorem 9.19",
    "analysis",
)
MINKOWSKI_INEQUALITY = Rule(
    "Minkowski's inequality", "√E (X + Y)² ≤ √E X² + √E Y²", "Rudin 1987, Theorem 3.5", "probability"
)
MONOTONE_SEQUENCES = Rule(
    "monotone sequences", "a bounded monotone sequence converges", "Rudin 1976, Theorem 3.14", "analysis"
)
MONOTONICITY = Rule("monotonicity", "a function that rises everywhere has at most one zero", "elementary", "analysis")
MULTIPLIERS_ON_A_BALL = Rule(
    "multipliers on a ball",
    "if a smooth function on a ball around 0 is largest at z, its gradient there is κ z with κ ≥ 0, and κ = 0 if z is "
    "inside",
    "Nocedal and Wright 2006, Theorem 12.1",
    "analysis",
)
MULTIPLE_OF_THE_IDENTITY = Rule(
    "multiple of the identity", "a multiple of I whose trace is 0 is 0", "elementary", "linear algebra"
)
NORMS_OF_POLYNOMIALS = Rule(
    "norms of polynomials",
    "√∫ r² dμ is a norm of polynomials r up to a degree: if it is bounded, so are the coefficients and, if r(0) = 1, "
    "the inverses of the roots",
    "Horn and Johnson 2013, Corollary 5.4.5 and section 5.6",
    "analysis",
)
OPERATOR_NORM = Rule(
    "operator norm", "|Mv| ≤ |M| |v|", "Horn and Johnson 2013, Matrix Analysis, section 5.6", "linear algebra"
)
ORTHOGONAL_PROJECTION = Rule(
    "orthogonal projection",
    "the point y of a subspace nearest to x is the one for which x − y is orthogonal to the subspace",
    "Rudin 1987, Real and Complex Analysis, Theorem 4.11",
    "linear algebra",
)
PERRON_THEOREM = Rule(
    "Perron's theorem",
    "the largest eigenvalue of a symmetric matrix without negative entries is also the largest in size",
    "Horn and Johnson 2013, Theorem 8.3.1",
    "linear algebra",
)
REMAINDER_OF_THE_EXPONENTIAL = Rule(
    "remainder of the exponential",
    "(e^x − 1 − x)/x², the integral of (1 − t) e^{tx} from t = 0 to 1, rises with x, and is 1/2 at 0",
    "Boucheron, Lugosi and Massart 2013, section 2.7",
    "analysis",
)
SCHUR_LEMMA = Rule(
    "Schur's lemma",
    "a matrix that commutes with a group that acts irreducibly on C^k is a multiple of the identity",
    "Serre 1977, Linear Representations of Finite Groups, section 2.2",
    "linear algebra",
)
SECOND_DERIVATIVE = Rule(
    "second derivative",
    "a function whose Hessian is positive definite is strictly convex",
    "Boyd and Vandenberghe 2004, section 3.1.4",
    "analysis",
)
SECOND_ORDER_CONDITION = Rule(
    "second-order condition",
    "a point where the slopes vanish and the Hessian is positive definite is a strict local minimum",
    "Nocedal and Wright 2006, Theorem 2.4",
    "analysis",
)
SECOND_ORDER_NECESSARY_CONDITION = Rule(
    "second-order necessary condition",
    "if a smooth function on a ball around 0 is largest at z and has the gradient κ z there, its second derivative "
    "along unit vectors orthogonal to z is at most κ",
    "Nocedal and Wright 2006, Theorem 12.5",
    "analysis",
)
SIGN_OF_THE_SLOPE = Rule(
    "sign of the slope",
    "a function whose slope is nowhere positive does not rise, and one whose slope is nowhere negative does not fall",
    "Rudin 1976, Theorem 5.11",
    "analysis",
)
SLOPES_AT_A_LEAST_POINT = Rule(
    "slopes at a least point",
    "the slopes of a smooth function vanish where it is least",
    "Rudin 1976, Theorem 5.8",
    "analysis",
)
SPECTRAL_THEOREM = Rule(
    "spectral theorem",
    "a symmetric matrix has an orthonormal basis of eigenvectors, and its norm is its largest |eigenvalue|",
    "Horn and Johnson 2013, Theorem 4.1.5",
    "linear algebra",
)
STATIONARY_POINT_OF_A_CONVEX_FUNCTION = Rule(
    "stationary point of a convex function",
    "a convex function is least where its slopes vanish",
    "Boyd and Vandenberghe 2004, section 3.1.3",
    "analysis",
)
STOLZ_CESARO = Rule(
    "Stolz-Cesàro",
    "if the increments of a sequence tend to a limit, the sequence divided by its index tends to the same limit",
    "Mureşan 2009, A Concrete Approach to Classical Analysis, pages 85 to 88",
    "analysis",
)
SYLVESTER_CRITERION = Rule(
    "Sylvester's criterion",
    "a symmetric matrix is positive definite if its leading principal minors are positive",
    "Horn and Johnson 2013, Theorem 7.2.5",
    "linear algebra",
)
SYMMETRIC_AND_ANTISYMMETRIC_PARTS = Rule(
    "symmetric and antisymmetric parts",
    "a square matrix is the sum of a multiple of I, a symmetric matrix of trace 0 and an antisymmetric matrix; the "
    "trace of the product of two matrices of different kinds is 0",
    "Horn and Johnson 2013, section 0.2.5",
    "linear algebra",
)
SYMMETRIC_CRITICALITY = Rule(
    "symmetric criticality",
    "isometries that preserve a function and fix a point fix the function's gradient there",
    "Palais 1979, Communications in Mathematical Physics 69, 19-30",
    "linear algebra",
)
SYMMETRY_OF_INDEPENDENT_ENTRIES = Rule(
    "symmetry of independent entries",
    "signed permutations of independent entries with the same symmetric law preserve their joint law",
    "Kallenberg 2005, Probabilistic Symmetries and Invariance Principles, section 1.1",
    "probability",
)
TANGENT = Rule(
    "tangent", "a convex function is at least its tangent", "Rockafellar 1970, Convex Analysis, section 25", "analysis"
)
TAYLOR_THEOREM = Rule(
    "Taylor's theorem",
    "f(x + h) − f(x) − f'(x)h is h²/2 times the value of f'' at a point between x and x + h",
    "Rudin 1976, Theorem 5.15",
    "analysis",
)
TRACE_IN_ENTRIES = Rule(
    "trace in entries", "tr MN = Σ m_ij n_ji", "Horn and Johnson 2013, section 0.2.5", "linear algebra"
)
TRACE_OF_PROJECTIONS = Rule(
    "trace of projections",
    "the trace of a product of two orthogonal projections is between 0 and the smaller rank",
    "von Neumann's trace inequality: Horn and Johnson 2013, Theorem 7.4.1.1",
    "linear algebra",
)
WHITENING = Rule(
    "whitening",
    "N(0, RR') is the law of R times a standard Gaussian vector; if w ~ N(0, (RR')^-1), R'w is a standard Gaussian "
    "vector; and R'(RR')^-1 R = I",
    "Anderson 2003, section 2.4",
    "probability",
)
WISHART_EIGENVALUES = Rule(
    "eigenvalues of a Wishart matrix",
    "the nonzero eigenvalues have a joint density, which is positive wherever they are positive and distinct",
    "Muirhead 1982, Aspects of Multivariate Statistical Theory, Theorem 3.2.18",
    "probability",
)
ZEROS_OF_ORTHOGONAL_POLYNOMIALS = Rule(
    "zeros of orthogonal polynomials",
    "the zeros of an orthogonal polynomial are real, simple and inside the interval of the measure",
    "Szegő 1939, Orthogonal Polynomials, Theorem 3.3.1",
    "analysis",
)
