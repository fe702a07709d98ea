(** Lemma 1: from zero, population gradient descent on the layer with one-hot encodings stays on the set of two numbers
    α and C, which move by the recursion. *)

Require Import Reals Lra Lia Arith Bool List.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal Require Import claims.
From SparseTokenSelection.formal.layer Require Import sums subsets expectation gradient.
From SparseTokenSelection.formal Require recursion.
Open Scope R_scope.

Section Set_.
Variables T q d : nat.
Hypothesis HT : (2 <= T)%nat.
Hypothesis Hq : (1 <= q <= T)%nat.
Variable E : (matrix -> R) -> R.
Hypothesis HE : normal_mean d T 3 E.
Variables alpha C : R.
Variables W V : matrix.
Hypothesis On : on_the_set d T alpha C W V.

Let Tr := INR T.
Let qr := INR q.
Let w := recursion.w C.
Let N := recursion.N Tr qr C.

Lemma T_pos : 1 < Tr. Proof. apply (lt_INR 1). lia. Qed.
Lemma q_range : 1 <= qr <= Tr. Proof. split; [apply (le_INR 1)|apply le_INR]; lia. Qed.
Lemma w_pos : 0 < w. Proof. apply exp_pos. Qed.
Lemma N_pos : 0 < N.
Proof.
  pose proof w_pos. pose proof q_range. unfold N, recursion.N. fold w.
  assert (0 <= (Tr - qr) * w) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma selected_square y i : selected y i * selected y i = selected y i.
Proof. unfold selected. destruct (nth i y false); ring. Qed.

(** ** Tokens, the query and the attention *)

Lemma token_row X i r : (r < d)%nat -> token d one_hot X i r = X r i.
Proof. intro H. unfold token. rewrite (proj2 (Nat.ltb_lt r d)) by assumption. reflexivity. Qed.

Lemma token_encoding X i k : token d one_hot X i (d + k) = one_hot k i.
Proof.
  unfold token. rewrite (proj2 (Nat.ltb_ge (d + k) d)) by lia. replace (d + k - d)%nat with k by lia. reflexivity.
Qed.

Lemma query_row y c : (c < d)%nat -> query d T one_hot y c = 0.
Proof. intro H. unfold query. rewrite (proj2 (Nat.ltb_lt c d)) by assumption. reflexivity. Qed.

Lemma query_encoding y j : (j < T)%nat -> query d T one_hot y (d + j) = selected y j.
Proof.
  intro H. unfold query. rewrite (proj2 (Nat.ltb_ge (d + j) d)) by lia. replace (d + j - d)%nat with j by lia.
  rewrite (sum_ext T _ (fun i => one_hot i j * selected y i)) by (intros; rewrite one_hot_sym; ring).
  apply sum_one_hot. assumption.
Qed.

Lemma W_zero r c : (r < d + T)%nat -> (c < d + T)%nat -> (r < d)%nat \/ (c < d)%nat -> W r c = 0.
Proof.
  intros Hr Hc H. rewrite (proj1 On) by assumption.
  destruct (Nat.ltb_spec r d), (Nat.ltb_spec c d); simpl; try reflexivity; lia.
Qed.

Lemma W_positional i j : (i < T)%nat -> (j < T)%nat -> W (d + i)%nat (d + j)%nat = C * (one_hot i j - / Tr).
Proof.
  intros Hi Hj. rewrite (proj1 On) by lia.
  rewrite (proj2 (Nat.ltb_ge (d + i) d)), (proj2 (Nat.ltb_ge (d + j) d)) by lia. simpl. fold Tr. f_equal. f_equal.
  unfold one_hot. destruct (Nat.eqb_spec i j), (Nat.eqb_spec (d + i) (d + j)); try reflexivity; lia.
Qed.

(** Token i has the logit C ([i ∈ y] − q/T). *)
Lemma logit_on_the_set X y i : In y (subsets T q) -> (i < T)%nat ->
  logit d T T one_hot W X y i = C * (selected y i - qr / Tr).
Proof.
  intros Hy Hi. unfold logit. rewrite sum_split, sum_zero.
  - rewrite (sum_ext T _ (fun k => one_hot k i * (C * (selected y k - qr / Tr)))).
    + rewrite sum_one_hot by assumption. ring.
    + intros k Hk. rewrite token_encoding. f_equal. rewrite sum_split, sum_zero.
      * rewrite (sum_ext T _ (fun j => one_hot j k * (C * selected y j) - C / Tr * selected y j)).
        -- rewrite sum_minus, sum_one_hot, sum_scal, (members T q y) by assumption. fold qr. pose proof T_pos. field.
           lra.
        -- intros j Hj. rewrite W_positional, query_encoding, (one_hot_sym k j) by assumption. unfold Rdiv. ring.
      * intros c Hc. rewrite query_row by assumption. ring.
  - intros r Hr. rewrite (sum_zero (d + T)); [ring|]. intros c Hc. rewrite W_zero by (lia || (left; assumption)). ring.
Qed.

(** The attention on token i, 1/N where it is selected and w/N where not. *)
Definition share (y : subset) (i : nat) : R := (w + (1 - w) * selected y i) / N.

Lemma attention_on_the_set X y i : In y (subsets T q) -> (i < T)%nat -> attention d T T one_hot W X y i = share y i.
Proof.
  intros Hy Hi. unfold attention, softmax, share.
  assert (L : forall j, (j < T)%nat -> exp (logit d T T one_hot W X y j)
      = exp (C * (1 - qr / Tr)) * (w + (1 - w) * selected y j)).
  { intros j Hj. rewrite logit_on_the_set by assumption. unfold w, recursion.w, selected.
    destruct (nth j y false); [f_equal; ring|]. rewrite Rmult_0_r, Rplus_0_r, <- exp_plus. f_equal. ring. }
  rewrite (sum_ext T _ (fun j => exp (C * (1 - qr / Tr)) * (w + (1 - w) * selected y j))) by assumption.
  rewrite L by assumption. rewrite sum_scal, sum_plus, sum_const, sum_scal, (members T q y) by assumption.
  fold Tr qr. replace (Tr * w + (1 - w) * qr) with N by (unfold N, recursion.N; fold w; ring).
  pose proof N_pos. pose proof (exp_pos (C * (1 - qr / Tr))). field. lra.
Qed.

(** The coefficients of the residual f − STS = X r. *)
Definition excess (y : subset) (i : nat) : R := alpha * share y i - selected y i / qr.

Lemma value_on_the_set X i a : (a < d)%nat -> value d T one_hot V X i a = alpha * X a i.
Proof.
  intro Ha. unfold value. rewrite (sum_ext (d + T) _ (fun r => one_hot r a * (alpha * token d one_hot X i r))).
  - rewrite sum_one_hot by lia. rewrite token_row by assumption. reflexivity.
  - intros r Hr. rewrite (proj2 On), one_hot_sym by assumption. ring.
Qed.

Lemma residual_on_the_set X y a : In y (subsets T q) -> (a < d)%nat ->
  residual d T T q one_hot W V X y a = linear T (excess y) a X.
Proof.
  intros Hy Ha. unfold residual, linear. rewrite layer_of_values. unfold target, Rdiv.
  rewrite <- sum_scal_r, <- sum_minus.
  apply sum_ext. intros i Hi. rewrite value_on_the_set, attention_on_the_set by assumption.
  unfold excess, qr, Rdiv. ring.
Qed.

(** ** Sums over the tokens for a given subset *)

Lemma sum_of_shares_squared y : In y (subsets T q) ->
  sum T (fun i => share y i * share y i) = (qr + (Tr - qr) * w ^ 2) / N ^ 2.
Proof.
  intro Hy. rewrite (sum_ext T _ (fun i => w ^ 2 / N ^ 2 + (1 - w ^ 2) / N ^ 2 * selected y i)).
  - rewrite sum_plus, sum_const, sum_scal, (members T q y) by assumption. fold Tr qr. pose proof N_pos. field. lra.
  - intros i _. pose proof N_pos. unfold share.
    transitivity ((w ^ 2 + 2 * w * (1 - w) * selected y i + (1 - w) ^ 2 * (selected y i * selected y i)) / N ^ 2);
      [field; lra|]. rewrite selected_square. field. lra.
Qed.

Lemma sum_of_selected_shares y : In y (subsets T q) -> sum T (fun i => selected y i * share y i) = qr / N.
Proof.
  intro Hy. rewrite (sum_ext T _ (fun i => / N * selected y i)).
  - rewrite sum_scal, (members T q y) by assumption. fold qr. unfold Rdiv. ring.
  - intros i _. pose proof N_pos. unfold share.
    transitivity ((w * selected y i + (1 - w) * (selected y i * selected y i)) / N); [field; lra|].
    rewrite selected_square. field. lra.
Qed.

(** Σ_i r_i p_i, the same for every subset. *)
Definition pull : R := alpha * ((qr + (Tr - qr) * w ^ 2) / N ^ 2) - / N.

Lemma sum_of_excess_shares y : In y (subsets T q) -> sum T (fun i => excess y i * share y i) = pull.
Proof.
  intro Hy. rewrite (sum_ext T _ (fun i => alpha * (share y i * share y i) - / qr * (selected y i * share y i))).
  - rewrite sum_minus, !sum_scal, sum_of_shares_squared, sum_of_selected_shares by assumption.
    unfold pull. pose proof N_pos. pose proof q_range. field. lra.
  - intros i _. unfold excess, Rdiv. ring.
Qed.

(** ** The mean over X of each entry of the gradient *)

Let mean_equal := mean_of_equal d T 3 E HE.

(** V, token block: Σ_i r_i p_i on the diagonal, 0 off it. *)
Lemma mean_V_token y a c : In y (subsets T q) -> (a < d)%nat -> (c < d)%nat ->
  E (fun X => gradient_V d T T q one_hot W V X y a c) = one_hot a c * pull.
Proof.
  intros Hy Ha Hc. rewrite (mean_equal _ (fun X => linear T (excess y) a X * linear T (share y) c X)).
  - rewrite (mean_linear_product d T E HE) by assumption. rewrite sum_of_excess_shares by assumption. reflexivity.
  - intro X. unfold gradient_V. rewrite residual_on_the_set by assumption. f_equal. apply sum_ext. intros i Hi.
    rewrite token_row, attention_on_the_set by assumption. ring.
Qed.

(** V, positional block: 0. *)
Lemma mean_V_positional y a k : In y (subsets T q) -> (a < d)%nat -> (k < T)%nat ->
  E (fun X => gradient_V d T T q one_hot W V X y a (d + k)) = 0.
Proof.
  intros Hy Ha Hk. rewrite (mean_equal _ (linear T (fun i => share y k * excess y i) a)).
  - apply (mean_linear d T E HE). assumption.
  - intro X. unfold gradient_V. rewrite residual_on_the_set by assumption.
    rewrite (sum_ext T _ (fun i => one_hot i k * share y i)).
    + rewrite sum_one_hot by assumption. unfold linear. rewrite <- sum_scal_r. apply sum_ext. intros. ring.
    + intros i Hi. rewrite token_encoding, attention_on_the_set, one_hot_sym by assumption. reflexivity.
Qed.

(** W, the columns of x_query = 0: 0. *)
Lemma mean_W_query_columns y r c : (c < d)%nat -> E (fun X => gradient_W d T T q one_hot W V X y r c) = 0.
Proof.
  intro Hc. rewrite (mean_equal _ (fun _ => 0)); [apply (mean_zero d T E HE)|].
  intro X. unfold gradient_W. rewrite query_row by assumption. ring.
Qed.

(** W, (token, positional) block: third moments, all 0. *)
Lemma mean_W_token_rows y r j : In y (subsets T q) -> (r < d)%nat -> (j < T)%nat ->
  E (fun X => gradient_W d T T q one_hot W V X y r (d + j)) = 0.
Proof.
  intros Hy Hr Hj.
  rewrite (mean_equal _ (fun X => sum d (fun b => sum T (fun i => sum T (fun k => sum T (fun l =>
    selected y j * excess y i * (alpha * share y k) * (one_hot l k - share y l) * (X b i * X b k * X r l))))))).
  - apply (mean_cubic d T E HE (fun b i k l =>
      selected y j * excess y i * (alpha * share y k) * (one_hot l k - share y l))). assumption.
  - intro X. unfold gradient_W. rewrite query_encoding by assumption. rewrite <- sum_scal. apply sum_ext. intros b Hb.
    rewrite residual_on_the_set by assumption. unfold linear.
    rewrite sum_mult, <- sum_scal. apply sum_ext. intros i _. rewrite <- sum_scal. apply sum_ext. intros k Hk.
    rewrite value_on_the_set, attention_on_the_set, token_row by assumption.
    rewrite (sum_ext T (fun l => attention d T T one_hot W X y l * token d one_hot X l r) (fun l => share y l * X r l))
      by (intros; rewrite attention_on_the_set, token_row by assumption; reflexivity).
    rewrite (sum_ext T (fun l => _ * _ * _ * (one_hot l k - share y l) * _) (fun l =>
      selected y j * excess y i * (alpha * share y k) * (X b i * X b k) * (one_hot l k * X r l - share y l * X r l)))
      by (intros; ring).
    rewrite sum_scal, sum_minus, sum_one_hot by assumption. ring.
Qed.

(** W, positional block: the slope in the logit of token i, where token j is selected. *)
Lemma mean_W_positional y i j : In y (subsets T q) -> (i < T)%nat -> (j < T)%nat ->
  E (fun X => gradient_W d T T q one_hot W V X y (d + i) (d + j))
  = selected y j * (INR d * (alpha * share y i * (excess y i - pull))).
Proof.
  intros Hy Hi Hj. set (s := fun k => selected y j * (alpha * share y k * (one_hot k i - share y i))).
  assert (Sum : sum T (fun k => excess y k * s k) = selected y j * (alpha * share y i * (excess y i - pull))).
  { rewrite (sum_ext T _ (fun k => one_hot k i * (selected y j * (alpha * share y k * excess y k))
      - selected y j * (alpha * share y i) * (excess y k * share y k))) by (intros; unfold s; ring).
    rewrite sum_minus, sum_one_hot, sum_scal, sum_of_excess_shares by assumption. ring. }
  rewrite (mean_equal _ (fun X => sum d (fun b => linear T (excess y) b X * linear T s b X))).
  - rewrite (mean_sum d T E HE d (fun b X => linear T (excess y) b X * linear T s b X))
      by (intros; apply polynomial_linear_product; assumption).
    rewrite (sum_ext d _ (fun _ => selected y j * (alpha * share y i * (excess y i - pull)))).
    + rewrite sum_const. ring.
    + intros b Hb. rewrite (mean_linear_product d T E HE), Sum, one_hot_same by assumption. ring.
  - intro X. unfold gradient_W. rewrite query_encoding by assumption. rewrite <- sum_scal. apply sum_ext. intros b Hb.
    rewrite residual_on_the_set by assumption. rewrite <- Rmult_assoc, (Rmult_comm (selected y j)), Rmult_assoc.
    f_equal.
    unfold linear. rewrite <- sum_scal. apply sum_ext. intros k Hk.
    rewrite value_on_the_set, attention_on_the_set, token_encoding by assumption.
    rewrite (sum_ext T _ (fun l => one_hot l i * share y l))
      by (intros; rewrite attention_on_the_set, token_encoding, one_hot_sym by assumption; ring).
    rewrite sum_one_hot, one_hot_sym by assumption. unfold s. ring.
Qed.

(** ** The mean over the subsets *)

Lemma population_V a r : (a < d)%nat -> (r < d + T)%nat ->
  population_mean T q E (fun X y => gradient_V d T T q one_hot W V X y a r) = one_hot a r * pull.
Proof.
  intros Ha Hr. unfold population_mean. rewrite (mean_over_ext T q _ (fun _ => one_hot a r * pull)).
  - apply mean_over_const. assumption.
  - intros y Hy. destruct (Nat.lt_ge_cases r d) as [L|G].
    + apply mean_V_token; assumption.
    + replace r with (d + (r - d))%nat by lia. rewrite mean_V_positional by (assumption || lia).
      rewrite one_hot_other by lia. ring.
Qed.

(** The slope in the logit of a selected token. *)
Definition slope : R := INR d * (alpha * / N * (alpha / N - / qr - pull)).

(** Softmax does not see a common shift: the slopes sum to 0 over the tokens. *)
Lemma slope_of_token y i : qr < Tr ->
  INR d * (alpha * share y i * (excess y i - pull)) = slope * ((Tr * selected y i - qr) / (Tr - qr)).
Proof.
  intro H. pose proof N_pos. pose proof q_range. unfold excess, share, slope, pull.
  assert (K : N = qr + (Tr - qr) * w) by reflexivity. unfold selected. destruct (nth i y false).
  - rewrite K in *. field. lra.
  - rewrite K in *. field. lra.
Qed.

(** W's positional block: the gradient is a multiple of I − 11ᵀ/T. *)
Lemma population_W_positional i j : (i < T)%nat -> (j < T)%nat ->
  population_mean T q E (fun X y => gradient_W d T T q one_hot W V X y (d + i) (d + j))
  = qr / (Tr - 1) * slope * (one_hot i j - / Tr).
Proof.
  intros Hi Hj. unfold population_mean.
  rewrite (mean_over_ext T q _ (fun y => selected y j * (INR d * (alpha * share y i * (excess y i - pull)))))
    by (intros; apply mean_W_positional; assumption).
  pose proof T_pos as T1. pose proof q_range as Q1. pose proof N_pos as N0.
  destruct (Req_dec qr Tr) as [Eq|Ne].
  - (* every token is selected: the slopes are 0 *)
    assert (Z : slope = 0).
    { unfold slope, pull. assert (K : N = Tr) by (unfold N, recursion.N; rewrite Eq; ring). rewrite K, Eq. field. lra. }
    rewrite (mean_over_ext T q _ (fun _ => 0)); [rewrite mean_over_const, Z by assumption; ring|]. intros y Hy.
    rewrite (INR_eq q T Eq) in Hy. pose proof (all_selected T y i Hy Hi) as S1.
    unfold excess, share, pull. rewrite S1. assert (K : N = Tr) by (unfold N, recursion.N; rewrite Eq; ring).
    rewrite K, Eq. field. lra.
  - rewrite (mean_over_ext T q _ (fun y => slope / (Tr - qr) * (Tr * (selected y i * selected y j))
        + - (slope * qr / (Tr - qr)) * selected y j)).
    + rewrite mean_over_plus, !mean_over_scal, mean_selected by assumption. fold Tr qr.
      destruct (Nat.eq_dec i j) as [->|Nij].
      * rewrite (mean_over_ext T q _ (fun y => selected y j)) by (intros; apply selected_square).
        rewrite mean_selected, one_hot_same by assumption. fold Tr qr. field. lra.
      * rewrite mean_both_selected, one_hot_other by assumption. fold Tr qr. field. lra.
    + intros y Hy. rewrite slope_of_token by lra. field. lra.
Qed.

Lemma population_W_zero r c : (r < d + T)%nat -> (c < d + T)%nat -> (r < d)%nat \/ (c < d)%nat ->
  population_mean T q E (fun X y => gradient_W d T T q one_hot W V X y r c) = 0.
Proof.
  intros Hr Hc H. unfold population_mean. rewrite (mean_over_ext T q _ (fun _ => 0)); [apply mean_over_const;
    assumption|].
  intros y Hy. destruct (Nat.lt_ge_cases c d) as [L|G]; [apply mean_W_query_columns; assumption|].
  replace c with (d + (c - d))%nat by lia. apply mean_W_token_rows; try assumption; lia.
Qed.

(** ** A step of gradient descent *)

Lemma step_of_alpha eta : alpha - eta * pull = recursion.step_alpha Tr qr eta alpha C.
Proof.
  pose proof N_pos as N0. pose proof q_range. unfold pull, recursion.step_alpha, recursion.S', recursion.Q, recursion.P.
  fold w. fold N. field. lra.
Qed.

Lemma step_of_C eta : C - eta * (qr / (Tr - 1) * slope) = recursion.step_C Tr qr (INR d) eta alpha C.
Proof.
  pose proof N_pos as N0. pose proof q_range. pose proof T_pos. assert (K : N = qr + (Tr - qr) * w) by reflexivity.
  unfold slope, pull, recursion.step_C, recursion.Q, recursion.P. fold w. fold N. rewrite K in *. field. lra.
Qed.

Lemma step_on_the_set eta W' V' : descent_step d T T one_hot q E eta W V W' V' ->
  on_the_set d T (recursion.step_alpha Tr qr eta alpha C) (recursion.step_C Tr qr (INR d) eta alpha C) W' V'.
Proof.
  assert (T0 : (0 < T)%nat) by lia.
  intros [SW SV]. split.
  - intros r c Hr Hc. destruct (SW r c Hr Hc) as [g [Hg ->]].
    replace (population_mean T q E g) with (population_mean T q E (fun X y => gradient_W d T T q one_hot W V X y r c)).
    + destruct (Nat.ltb_spec r d) as [Lr|Gr]; [|destruct (Nat.ltb_spec c d) as [Lc|Gc]]; simpl.
      * rewrite W_zero, population_W_zero by auto. ring.
      * rewrite W_zero, population_W_zero by auto. ring.
      * pose (i := (r - d)%nat). pose (j := (c - d)%nat).
        assert (Er : r = (d + i)%nat) by (unfold i; lia). assert (Ec : c = (d + j)%nat) by (unfold j; lia).
        assert (Eh : one_hot r c = one_hot i j) by (rewrite Er, Ec; unfold one_hot;
          destruct (Nat.eqb_spec i j), (Nat.eqb_spec (d + i) (d + j)); try reflexivity; lia).
        rewrite Eh, Er, Ec, W_positional, population_W_positional, <- step_of_C by lia. fold Tr. ring.
    + apply mean_over_ext. intros y _. apply mean_equal. intro X.
      pose proof (gradient_W_is_slope d T T q one_hot T0 W V X y r c Hr Hc) as D. specialize (Hg X y).
      apply is_derive_unique in D. apply is_derive_unique in Hg. congruence.
  - intros a r Ha Hr. destruct (SV a r Ha Hr) as [g [Hg ->]].
    replace (population_mean T q E g) with (population_mean T q E (fun X y => gradient_V d T T q one_hot W V X y a r)).
    + rewrite (proj2 On), population_V, <- step_of_alpha by assumption. ring.
    + apply mean_over_ext. intros y _. apply mean_equal. intro X.
      pose proof (gradient_V_is_slope d T T q one_hot W V X y a r Ha Hr) as D. specialize (Hg X y).
      apply is_derive_unique in D. apply is_derive_unique in Hg. congruence.
Qed.

(** ** The population loss *)

Lemma sum_of_excess_squared y : In y (subsets T q) ->
  sum T (fun i => excess y i * excess y i) = alpha * pull - alpha / N + / qr.
Proof.
  intro Hy. rewrite (sum_ext T _ (fun i => alpha * (excess y i * share y i) + (- alpha / qr * (selected y i * share y i)
    + / qr ^ 2 * selected y i))).
  - rewrite !sum_plus, !sum_scal, sum_of_excess_shares, sum_of_selected_shares, (members T q y) by assumption.
    fold qr. pose proof N_pos. pose proof q_range. field. lra.
  - intros i _. pose proof q_range. unfold excess at 2.
    transitivity (alpha * (excess y i * share y i) + (- alpha / qr * (selected y i * share y i)
      + / qr ^ 2 * (selected y i * selected y i))); [|rewrite selected_square; reflexivity].
    unfold excess. field. lra.
Qed.

Lemma population_loss_on_the_set : population_loss d T T one_hot q E W V = recursion.loss Tr qr (INR d) alpha C.
Proof.
  unfold population_loss, population_mean.
  rewrite (mean_over_ext T q _ (fun _ => / 2 * (INR d * (alpha * pull - alpha / N + / qr)))).
  - rewrite mean_over_const by assumption. pose proof N_pos. pose proof q_range.
    unfold pull, recursion.loss, recursion.S', recursion.Q, recursion.P. fold w. fold N. field. lra.
  - intros y Hy.
    rewrite (mean_equal _ (fun X => / 2 * sum d (fun a => linear T (excess y) a X * linear T (excess y) a X))).
    + rewrite (mean_scal d T E HE (/ 2) (fun X => sum d (fun a => linear T (excess y) a X * linear T (excess y) a X))).
      * f_equal. rewrite (mean_sum d T E HE d (fun a X => linear T (excess y) a X * linear T (excess y) a X))
          by (intros; apply polynomial_linear_product; assumption).
        rewrite <- sum_const. apply sum_ext. intros a Ha.
        rewrite (mean_linear_product d T E HE), one_hot_same, sum_of_excess_squared by assumption. ring.
      * apply (polynomial_sum d T 3 d (fun a X => linear T (excess y) a X * linear T (excess y) a X)).
        intros. apply polynomial_linear_product; assumption.
    + intro X. unfold sample_loss. f_equal. apply sum_ext. intros a Ha.
      fold (residual d T T q one_hot W V X y a). rewrite residual_on_the_set by assumption. ring.
Qed.

End Set_.

(** ** Lemma 1 *)

Theorem lemma1_kept : kept.
Proof.
  intros T q d eta E W V (HT & Hq & Hd) HE (W0 & V0 & Step) n. unfold run. induction n as [|n IH].
  - split; simpl; intros.
    + rewrite W0 by assumption. destruct (_ || _); ring.
    + rewrite V0 by assumption. ring.
  - simpl. destruct (recursion.run (INR T) (INR q) (INR d) eta n) as [alpha C] eqn:Er. simpl in *.
    exact (step_on_the_set T q d HT Hq E HE alpha C (W n) (V n) IH eta _ _ (Step n)).
Qed.

Theorem lemma1_step : step_from_the_set.
Proof.
  intros T q d eta alpha C E W V W' V' (HT & Hq & Hd) HE On.
  exact (step_on_the_set T q d HT Hq E HE alpha C W V On eta W' V').
Qed.

Theorem lemma1_loss_on_the_set : loss_on_the_set.
Proof.
  intros T q d alpha C E W V (HT & Hq & Hd) HE On.
  exact (population_loss_on_the_set T q d HT Hq E HE alpha C W V On).
Qed.

(** Every step is defined, so that runs exist. *)
Definition next T q d eta E (point : matrix * matrix) : matrix * matrix :=
  let (W, V) := point in
  (fun r c => W r c - eta * population_mean T q E (fun X y => gradient_W d T T q one_hot W V X y r c),
   fun a r => V a r - eta * population_mean T q E (fun X y => gradient_V d T T q one_hot W V X y a r)).

Lemma next_is_a_step T q d eta E W V : sizes T q d ->
  descent_step d T T one_hot q E eta W V (fst (next T q d eta E (W, V))) (snd (next T q d eta E (W, V))).
Proof.
  intros (HT & Hq & Hd). assert (T0 : (0 < T)%nat) by lia. split.
  - intros r c Hr Hc. exists (fun X y => gradient_W d T T q one_hot W V X y r c). split; [|reflexivity].
    intros X y. apply gradient_W_is_slope; assumption.
  - intros a r Ha Hr. exists (fun X y => gradient_V d T T q one_hot W V X y a r). split; [|reflexivity].
    intros X y. apply gradient_V_is_slope; assumption.
Qed.

Theorem lemma1_step_exists : step_exists.
Proof. intros T q d eta E W V Size. eexists. eexists. apply next_is_a_step. exact Size. Qed.

Theorem lemma1_run_exists : run_exists.
Proof.
  intros T q d eta E Size.
  pose (points := fix points n : matrix * matrix :=
    match n with O => (fun _ _ => 0, fun _ _ => 0) | S m => next T q d eta E (points m) end).
  exists (fun n => fst (points n)), (fun n => snd (points n)). split; [reflexivity|]. split; [reflexivity|]. intro n.
  change (points (S n)) with (next T q d eta E (points n)). destruct (points n) as [W V].
  apply next_is_a_step. exact Size.
Qed.
