(** Limits as r → 0, by their parts, and e^x to second order. *)

Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection.formal Require Import claims.
Open Scope R_scope.

(** ** Limits at 0 of sums, products and quotients *)

Definition tends (f : R -> R) (l : R) : Prop := is_lim f 0 l.

Lemma tends_constant a : tends (fun _ => a) a.
Proof. apply is_lim_const. Qed.
Lemma tends_identity : tends (fun r => r) 0.
Proof. apply is_lim_id. Qed.
Lemma tends_plus f g a b : tends f a -> tends g b -> tends (fun r => f r + g r) (a + b).
Proof. apply is_lim_plus'. Qed.
Lemma tends_minus f g a b : tends f a -> tends g b -> tends (fun r => f r - g r) (a - b).
Proof. apply is_lim_minus'. Qed.
Lemma tends_opp f a : tends f a -> tends (fun r => - f r) (- a).
Proof. apply (is_lim_opp f 0 a). Qed.
Lemma tends_times f g a b : tends f a -> tends g b -> tends (fun r => f r * g r) (a * b).
Proof. intros F G. apply (is_lim_mult f g 0 a b F G I). Qed.
Lemma tends_power f a n : tends f a -> tends (fun r => f r ^ n) (a ^ n).
Proof. intro F. induction n as [|n IH]; [apply tends_constant|exact (tends_times f _ a _ F IH)]. Qed.
Lemma tends_inverse f a : a <> 0 -> tends f a -> tends (fun r => / f r) (/ a).
Proof. intros A F. apply (is_lim_inv f 0 a F). intro E. injection E. exact A. Qed.
Lemma tends_quotient f g a b : b <> 0 -> tends f a -> tends g b -> tends (fun r => f r / g r) (a / b).
Proof. intros B F G. exact (tends_times f _ a _ F (tends_inverse g b B G)). Qed.
Lemma tends_as f a b : a = b -> tends f a -> tends f b.
Proof. intros ->. trivial. Qed.

Lemma tends_along F f a : continuous F a -> tends f a -> tends (fun r => F (f r)) (F a).
Proof. intros C H. exact (filterlim_comp _ _ _ f F _ _ _ H C). Qed.

(** Near 0, except at 0. *)
Definition near (P : R -> Prop) : Prop := locally' 0 P.
Lemma tends_near f g a : near (fun r => f r = g r) -> tends f a -> tends g a.
Proof. apply (is_lim_ext_loc f g 0 a). Qed.
Lemma near_nonzero f a : a <> 0 -> tends f a -> near (fun r => f r <> 0).
Proof. intros A F. exact (F _ (open_neq 0 a A)). Qed.
Lemma near_at : near (fun r => r <> 0).
Proof. exists (mkposreal 1 Rlt_0_1). intros r _ H. exact H. Qed.
Lemma near_and (A B : R -> Prop) : near A -> near B -> near (fun r => A r /\ B r).
Proof. apply filter_and. Qed.
Lemma near_then (A B : R -> Prop) : (forall r, A r -> B r) -> near A -> near B.
Proof. apply filter_imp. Qed.

Ltac limit := first
  [ eassumption | apply tends_constant | apply tends_identity
  | apply tends_plus; limit | apply tends_minus; limit | apply tends_opp; limit
  | apply tends_quotient; [|limit|limit] | apply tends_inverse; [|limit]
  | apply tends_times; limit | apply tends_power; limit ].
(** A limit by its parts; what is left says that it is the right one, and that no divisor is 0. *)
Ltac limit_as := eapply tends_as; [|limit].

(** ** e^x to second order *)

(** |e^x − 1 − x − x²/2| ≤ |x|² (e^|x| − 1), by the mean value theorem, twice. *)
Lemma exp_near_1 s a : Rabs s <= a -> Rabs (exp s - 1) <= exp a - 1.
Proof.
  intro H. apply Rabs_le_between in H. pose proof (exp_ineq1_le a). pose proof (exp_ineq1_le (- a)).
  assert (exp s <= exp a) by (destruct (Req_dec s a) as [->|]; [lra|left; apply exp_increasing; lra]).
  assert (exp (- a) <= exp s) by (destruct (Req_dec (- a) s) as [<-|]; [lra|left; apply exp_increasing; lra]).
  apply Rabs_le. lra.
Qed.

Lemma between_0 x y : Rmin 0 x <= y <= Rmax 0 x -> Rabs y <= Rabs x.
Proof. unfold Rmin, Rmax. destruct (Rle_dec 0 x); intro H; unfold Rabs; repeat destruct Rcase_abs; lra. Qed.

Lemma increment_at_most (f df : R -> R) (b x : R) : f 0 = 0 -> (forall y, is_derive f y (df y)) ->
  (forall y, Rabs y <= Rabs x -> Rabs (df y) <= b) -> Rabs (f x) <= b * Rabs x.
Proof.
  intros Z D B. destruct (MVT_gen f 0 x df) as [y [Hy E]].
  - intros y _. apply D.
  - intros y _. apply derivable_continuous_pt. exists (df y). apply is_derive_Reals, D.
  - replace (f x) with (df y * x) by lra. rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|].
    apply B, between_0, Hy.
Qed.

Lemma exp_to_second_order x : Rabs (exp x - 1 - x - x ^ 2 / 2) <= (exp (Rabs x) - 1) * Rabs x * Rabs x.
Proof.
  apply (increment_at_most (fun x => exp x - 1 - x - x ^ 2 / 2) (fun x => exp x - 1 - x)).
  - rewrite exp_0. field.
  - intro y. auto_derive; [exact I|field].
  - intros y Hy. apply Rle_trans with ((exp (Rabs x) - 1) * Rabs y).
    + apply (increment_at_most (fun x => exp x - 1 - x) (fun x => exp x - 1)).
      * rewrite exp_0. ring.
      * intro z. auto_derive; [exact I|ring].
      * intros z Hz. apply exp_near_1. lra.
    + pose proof (exp_near_1 0 (Rabs x)) as P. rewrite Rabs_R0 in P. specialize (P (Rabs_pos x)).
      apply Rmult_le_compat_l; [|exact Hy]. apply Rle_trans with (2 := P). apply Rabs_pos.
Qed.

(** So (1 − e^{−m})/m is 1 − m/2 to second order. *)
Lemma exact_phi_is m : m <> 0 -> Rabs (exact_phi m - (1 - m / 2)) <= (exp (Rabs m) - 1) * Rabs m.
Proof.
  intro M. pose proof (exp_to_second_order (- m)) as E. rewrite Rabs_Ropp in E.
  assert (A : 0 < Rabs m) by (apply Rabs_pos_lt, M). apply Rmult_le_reg_r with (Rabs m); [exact A|].
  rewrite <- Rabs_mult. replace ((exact_phi m - (1 - m / 2)) * m) with (- (exp (- m) - 1 - - m - (- m) ^ 2 / 2))
    by (unfold exact_phi; field; exact M).
  rewrite Rabs_Ropp. exact E.
Qed.
