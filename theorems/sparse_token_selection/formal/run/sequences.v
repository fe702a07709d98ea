(** Limits of sequences. *)

Require Import Reals Lra Psatz Lia.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(** Writes the limit of the goal in another way, of the same value. *)
Ltac as_value y := match goal with |- is_lim_seq _ (Finite ?x) =>
  replace (Finite x) with (Finite y) by (f_equal; first [ring | field; lra | field]) end.

(** u² ≤ v → 0. *)
Lemma squeeze_of_squares (u v : nat -> R) : (forall n, u n ^ 2 <= v n) -> is_lim_seq v 0 -> is_lim_seq u 0.
Proof.
  intros H Hv. apply is_lim_seq_abs_0.
  assert (K : is_lim_seq (fun n => sqrt (v n)) (sqrt 0)) by (apply (is_lim_seq_continuous sqrt);
    [apply continuity_pt_sqrt; lra|assumption]).
  rewrite sqrt_0 in K. apply is_lim_seq_le_le with (fun _ => 0) (fun n => sqrt (v n));
    [|apply is_lim_seq_const|assumption].
  intro n. split; [apply Rabs_pos|]. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr. specialize (H n). lra.
Qed.

(** b' = c b + δ with c → l, |l| < 1, and δ → 0 has b → 0. *)
Lemma recurrence_to_zero (b c dl : nat -> R) l : Rabs l < 1 -> (forall n, b (S n) = c n * b n + dl n) ->
  is_lim_seq c l -> is_lim_seq dl 0 -> is_lim_seq b 0.
Proof.
  intros Hl Hb Hc Hd. pose (th := (1 + Rabs l) / 2). assert (Rabs l < th < 1) by (unfold th; pose proof (Rabs_pos l);
    lra).
  assert (T0 : 0 <= th) by (pose proof (Rabs_pos l); lra).
  apply is_lim_seq_spec. intro eps. unfold is_lim_seq' in *. pose proof (cond_pos eps) as Pe.
  assert (E1 : eventually (fun n => Rabs (c n) < th)).
  { apply is_lim_seq_abs in Hc. simpl in Hc. apply is_lim_seq_spec in Hc. assert (G : 0 < th - Rabs l) by lra.
    destruct (Hc (mkposreal _ G)) as [N HN]. exists N. intros n Hn. specialize (HN n Hn). simpl in HN.
    apply Rabs_def2 in HN. lra. }
  assert (E2 : eventually (fun n => Rabs (dl n) < (1 - th) * (eps / 2))).
  { apply is_lim_seq_spec in Hd. assert (G : 0 < (1 - th) * (eps / 2)) by (apply Rmult_lt_0_compat; lra).
    destruct (Hd (mkposreal _ G)) as [N HN]. exists N. intros n Hn. specialize (HN n Hn). simpl in HN.
    rewrite Rminus_0_r in HN. assumption. }
  destruct E1 as [N1 H1], E2 as [N2 H2]. set (N := max N1 N2).
  assert (K : forall j, Rabs (b (N + j)%nat) <= eps / 2 + th ^ j * Rabs (b N)).
  { induction j as [|j IH]. rewrite Nat.add_0_r. simpl. lra.
    rewrite Nat.add_succ_r, Hb. specialize (H1 (N + j)%nat ltac:(lia)). specialize (H2 (N + j)%nat ltac:(lia)).
    apply Rle_trans with (Rabs (c (N + j)%nat * b (N + j)%nat) + Rabs (dl (N + j)%nat)); [apply Rabs_triang|].
    rewrite Rabs_mult.
    assert (Rabs (c (N + j)%nat) * Rabs (b (N + j)%nat) <= th * (eps / 2 + th ^ j * Rabs (b N))).
    { apply Rmult_le_compat; try apply Rabs_pos; lra. } simpl. lra. }
  destruct (pow_lt_1_zero th) with (y := eps / 2 / (1 + Rabs (b N))) as [J HJ].
  { rewrite Rabs_pos_eq; lra. } { apply Rdiv_lt_0_compat; [lra|]. pose proof (Rabs_pos (b N)); lra. }
  exists (N + J)%nat. intros n Hn. rewrite Rminus_0_r. replace n with (N + (n - N))%nat by lia. eapply Rle_lt_trans;
    [apply K|].
  specialize (HJ (n - N)%nat ltac:(lia)). rewrite Rabs_pos_eq in HJ by (apply pow_le; assumption).
  pose proof (Rabs_pos (b N)). assert (th ^ (n - N) * (1 + Rabs (b N)) < eps / 2).
  { apply Rmult_lt_compat_r with (r := 1 + Rabs (b N)) in HJ; [|lra].
    replace (eps / 2 / (1 + Rabs (b N)) * (1 + Rabs (b N))) with (eps / 2) in HJ by (field; lra). assumption. }
  assert (0 <= th ^ (n - N)) by (apply pow_le; assumption). nra.
Qed.

(** Stolz–Cesàro: u/n has the limit of the increments. *)
Lemma stolz_cesaro (u : nat -> R) (c : R) :
  is_lim_seq (fun n => u (S n) - u n) c -> is_lim_seq (fun n => u n / INR n) c.
Proof.
  intro H. apply is_lim_seq_Reals in H. apply Cesaro_1 in H. apply is_lim_seq_Reals in H.
  assert (K : is_lim_seq (fun n => u 0%nat / INR n) 0).
  { apply is_lim_seq_ext with (fun n => u 0%nat * / INR n); [reflexivity|].
    replace (Finite 0) with (Rbar_mult (u 0%nat) 0) by (simpl; f_equal; ring).
    apply is_lim_seq_scal_l. replace (Finite 0) with (Rbar_inv p_infty) by reflexivity. apply is_lim_seq_inv;
      [apply is_lim_seq_INR|discriminate]. }
  pose proof (is_lim_seq_plus' _ _ _ _ K H) as G. rewrite Rplus_0_l in G.
  apply is_lim_seq_ext_loc with (2 := G). exists 1%nat. intros n Hn. destruct n as [|n]; [lia|].
  assert (Es : forall j, sum_f_R0 (fun i => u (S i) - u i) j = u (S j) - u 0%nat) by (induction j as [|j IH];
    simpl in *; [ring|rewrite IH; ring]).
  simpl pred. rewrite Es. field. apply not_0_INR; lia.
Qed.

(** (e^y − 1)/v → l where y/v → l, y → 0 and v > 0. *)
Lemma exp_minus_one_over (y v : nat -> R) (l : R) : (forall n, 0 < v n) -> is_lim_seq y 0 ->
  is_lim_seq (fun n => y n / v n) l -> is_lim_seq (fun n => (exp (y n) - 1) / v n) l.
Proof.
  intros Hv Hy Hl. apply is_lim_seq_le_le_loc with (fun n => y n / v n) (fun n => y n / v n * / (1 - y n)).
  - apply is_lim_seq_spec in Hy. destruct (Hy (mkposreal (1 / 2) ltac:(lra))) as [N HN]. exists N. intros n Hn.
    specialize (HN n Hn). simpl in HN.
    rewrite Rminus_0_r in HN. apply Rabs_def2 in HN. specialize (Hv n). pose proof (exp_ineq1_le (y n)).
    pose proof (exp_ineq1_le (-y n)) as E. rewrite exp_Ropp in E.
    pose proof (exp_pos (y n)). split. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|lra].
    replace (y n / v n * / (1 - y n)) with ((y n / (1 - y n)) / v n) by (field; lra). apply Rmult_le_compat_r; [left;
      apply Rinv_0_lt_compat; assumption|].
    apply Rmult_le_reg_r with (1 - y n); [lra|]. replace (y n / (1 - y n) * (1 - y n)) with (y n) by (field; lra).
    assert ((1 - y n) * exp (y n) <= 1). { apply Rmult_le_compat_r with (r := exp (y n)) in E; [|lra].
    rewrite Rinv_l in E by lra. lra. } lra.
  - assumption.
  - replace (Finite l) with (Finite (l * / (1 - 0))) by (f_equal; field). apply is_lim_seq_mult'; [assumption|].
    apply (is_lim_seq_inv (fun n => 1 - y n) (Finite (1 - 0))); [|intro F; injection F; lra]. apply is_lim_seq_minus';
      [apply is_lim_seq_const|assumption].
Qed.

Lemma inv_lim (u : nat -> R) (l : R) : l <> 0 -> is_lim_seq u l -> is_lim_seq (fun n => /u n) (/l).
Proof. intros Hl H. apply (is_lim_seq_inv u (Finite l)); [assumption|intro F; injection F; assumption]. Qed.

Lemma div_lim (u v : nat -> R) (a b : R) : b <> 0 -> is_lim_seq u a -> is_lim_seq v b ->
  is_lim_seq (fun n => u n / v n) (a / b).
Proof. intros. apply is_lim_seq_mult'; [assumption|apply inv_lim; assumption]. Qed.

Lemma exp_lim (y : nat -> R) : is_lim_seq y 0 -> is_lim_seq (fun n => exp (y n)) 1.
Proof.
  intro H. rewrite <- exp_0. apply (is_lim_seq_continuous exp);
    [apply derivable_continuous_pt, derivable_pt_exp|assumption].
Qed.
