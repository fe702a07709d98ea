(** Descent along a step, also through a level set that is not convex. *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(** A slope of at most k over an interval. *)
Lemma growth_of_bounded_slope (f f' : R -> R) a b k : a <= b -> (forall x, a <= x <= b -> is_derive f x (f' x)) ->
  (forall x, a <= x <= b -> f' x <= k) -> f b - f a <= k * (b - a).
Proof.
  intros Hab Hd Hk. destruct (MVT_gen f a b f') as [c [Hc E]].
  - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra. apply Hd; lra.
  - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by lra.
    apply continuity_pt_filterlim. apply (@ex_derive_continuous R_AbsRing R_NormedModule). exists (f' x). apply Hd; lra.
  - rewrite Rmin_left, Rmax_right in Hc by lra. rewrite E. specialize (Hk c Hc). nra.
Qed.

(** The descent lemma: a second derivative of at most 2βg along a step, where the slope is −2g at the start. *)
Lemma fall_where_bounded (f f1 f2 : R -> R) g beta t : 0 <= t -> 0 <= g ->
  (forall x, 0 <= x <= t -> is_derive f x (f1 x)) -> (forall x, 0 <= x <= t -> is_derive f1 x (f2 x)) ->
  f1 0 = -2 * g -> (forall x, 0 <= x <= t -> f2 x <= 2 * beta * g) ->
  f t <= f 0 - 2 * g * t + beta * g * t ^ 2.
Proof.
  intros Ht Hg D1 D2 E0 B.
  assert (S: forall x, 0 <= x <= t -> f1 x <= -2 * g + 2 * beta * g * x).
  { intros x Hx. pose proof (growth_of_bounded_slope f1 f2 0 x (2 * beta * g)) as K. rewrite E0 in K.
    assert (f1 x - -2 * g <= 2 * beta * g * (x - 0)) by (apply K; intros; try lra; [apply D2|apply B]; lra). lra. }
  pose proof (growth_of_bounded_slope (fun x => f x + 2 * g * x - beta * g * x ^ 2)
    (fun x => f1 x + 2 * g - 2 * beta * g * x) 0 t 0 Ht) as K.
  assert (f t + 2 * g * t - beta * g * t ^ 2 - (f 0 + 2 * g * 0 - beta * g * 0 ^ 2) <= 0 * (t - 0)).
  { apply K.
    - intros x Hx. evar_last. apply @is_derive_minus. apply @is_derive_plus. apply D1; lra.
      auto_derive; [trivial|reflexivity]. auto_derive; [trivial|reflexivity]. unfold minus, plus, opp; simpl; ring.
    - intros x Hx. specialize (S x Hx). lra. }
  lra.
Qed.

(** The same where the second derivative is only known to be bounded as long as f is at most f(0): f does not exceed f(0)
    before the end. *)
Lemma descent_on_level_set (f f1 f2 : R -> R) g beta : 0 < g -> beta < 2 -> 0 <= beta ->
  (forall x, 0 <= x <= 1 -> is_derive f x (f1 x)) -> (forall x, 0 <= x <= 1 -> is_derive f1 x (f2 x)) ->
  f1 0 = -2 * g -> (forall x, 0 <= x <= 1 -> f x <= f 0 -> f2 x <= 2 * beta * g) ->
  f 1 <= f 0 - 2 * g * (1 - beta / 2).
Proof.
  intros Hg Hb Hb0 D1 D2 E0 B.
  assert (C: forall x, 0 <= x <= 1 -> continuous f x).
  { intros x Hx. apply (@ex_derive_continuous R_AbsRing R_NormedModule). exists (f1 x). apply D1, Hx. }
  set (E := fun t => 0 <= t <= 1 /\ forall s, 0 <= s <= t -> f s <= f 0).
  assert (E00: E 0). { split; [lra|]. intros s Hs. replace s with 0 by lra. lra. }
  destruct (completeness E) as [m [Ub Lub]].
  { exists 1. intros t [Ht _]. lra. } { exists 0; exact E00. }
  assert (M0: 0 <= m) by (apply Ub, E00).
  assert (M1: m <= 1) by (apply Lub; intros t [Ht _]; lra).
  assert (below: forall s, 0 <= s < m -> f s <= f 0).
  { intros s Hs. destruct (Rle_dec (f s) (f 0)) as [|N]; [assumption|exfalso].
    assert (is_upper_bound E s). { intros t [Ht K]. destruct (Rle_dec t s); [assumption|]. exfalso; apply N, K; lra. }
    specialize (Lub s H). lra. }
  assert (atm: f m <= f 0).
  { destruct (Rle_dec (f m) (f 0)) as [|N]; [assumption|exfalso].
    assert (0 < m). { destruct (Req_dec m 0); [subst; lra|lra]. }
    destruct (C m ltac:(lra) (fun y => f 0 < y)) as [eps He].
    { apply (open_gt (f 0)). lra. }
    pose proof (cond_pos eps) as Pe. set (s := Rmax 0 (m - eps / 2)).
    assert (0 <= s < m). { unfold s. split; [apply Rmax_l|apply Rmax_lub_lt; lra]. }
    specialize (below s H0). assert (f 0 < f s). { apply He. unfold ball; simpl;
      unfold AbsRing_ball, abs, minus, plus, opp; simpl.
      rewrite Rabs_left by lra. unfold s. pose proof (Rmax_r 0 (m - eps / 2)). lra. } lra. }
  assert (Em: E m). { split; [lra|]. intros s Hs. destruct (Req_dec s m); [subst; assumption|apply below; lra]. }
  assert (F: forall t, 0 <= t <= m -> f t <= f 0 - 2 * g * t + beta * g * t ^ 2).
  { intros t Ht. apply (fall_where_bounded f f1 f2); try lra; intros; [apply D1|apply D2|apply B]; try lra. apply Em;
      lra. }
  destruct (Rle_lt_dec 1 m) as [L|L].
  { replace m with 1 in * by lra. specialize (F 1 ltac:(lra)). lra. }
  exfalso.
  assert (strict: f m < f 0 \/ m = 0).
  { destruct (Req_dec m 0); [right; assumption|left]. specialize (F m ltac:(lra)). assert (0 < 2 - beta * m) by nra.
    assert (0 < g * m * (2 - beta * m)) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|assumption]). nra. }
  (* a little beyond m f is still below f 0 *)
  assert (more: exists e, 0 < e /\ forall s, m <= s <= m + e -> s <= 1 -> f s <= f 0).
  { destruct strict as [Sm|Z].
    - destruct (C m ltac:(lra) (fun y => y < f 0)) as [eps He]. { apply (open_lt (f 0)). lra. }
      pose proof (cond_pos eps). exists (eps / 2). split; [lra|]. intros s Hs _. left. apply He.
      unfold ball; simpl; unfold AbsRing_ball, abs, minus, plus, opp; simpl. rewrite Rabs_pos_eq by lra. lra.
    - subst m. assert (Cd: continuous f1 0). { apply (@ex_derive_continuous R_AbsRing R_NormedModule). exists (f2 0).
      apply D2; lra. }
      destruct (Cd (fun y => y < 0)) as [eps He]. { apply (open_lt 0). rewrite E0. lra. }
      pose proof (cond_pos eps). exists (Rmin (eps / 2) 1). split; [apply Rmin_pos; lra|]. intros s Hs Hs1.
      pose proof (Rmin_l (eps / 2) 1).
      assert (f s - f 0 <= 0 * (s - 0)). { apply (growth_of_bounded_slope f f1); try lra. intros; apply D1; lra.
      intros x Hx. left. apply He.
        unfold ball; simpl; unfold AbsRing_ball, abs, minus, plus, opp; simpl. rewrite Rabs_pos_eq by lra. lra. } lra. }
  destruct more as [e [He K]].
  set (t := Rmin (m + e) 1). assert (m < t) by (unfold t; apply Rmin_glb_lt; lra).
  assert (E t). { split. unfold t. split; [apply Rmin_glb; lra|apply Rmin_r]. intros s Hs.
    pose proof (Rmin_l (m + e) 1); pose proof (Rmin_r (m + e) 1). fold t in H0, H1.
    destruct (Rle_dec s m); [apply Em; lra|apply K; lra]. }
  specialize (Ub t H0). lra.
Qed.
