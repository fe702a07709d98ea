(** A uniformly random subset of q of T tokens: one given token is in it with probability q/T, two given tokens with
    probability q(q − 1)/(T(T − 1)). *)

Require Import Reals Lra Lia Arith List.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal.layer Require Import sums.
Import ListNotations.
Open Scope R_scope.

Definition total (ys : list subset) (f : subset -> R) : R := fold_right (fun y s => f y + s) 0 ys.

Lemma total_ext ys f g : (forall y, In y ys -> f y = g y) -> total ys f = total ys g.
Proof.
  induction ys as [|y ys IH]; intro H; simpl; [reflexivity|]. rewrite H by (left; reflexivity).
  rewrite IH by (intros; apply H; right; assumption). reflexivity.
Qed.

Lemma total_plus ys f g : total ys (fun y => f y + g y) = total ys f + total ys g.
Proof. induction ys as [|y ys IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma total_scal ys c f : total ys (fun y => c * f y) = c * total ys f.
Proof. induction ys as [|y ys IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma total_const ys c : total ys (fun _ => c) = INR (length ys) * c.
Proof. induction ys as [|y ys IH]; [simpl; ring|]. cbn [length]. rewrite S_INR. simpl total. rewrite IH. ring. Qed.

Lemma total_app xs ys f : total (xs ++ ys) f = total xs f + total ys f.
Proof. induction xs as [|x xs IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma total_map (h : subset -> subset) ys f : total (map h ys) f = total ys (fun y => f (h y)).
Proof. induction ys as [|y ys IH]; simpl; [reflexivity|rewrite IH; reflexivity]. Qed.

(** The first token of T + 1 is not selected, and the others are any subset of q, or is, and they are one of q − 1. *)
Lemma total_none t f : total (subsets (S t) 0) f = total (subsets t 0) (fun y => f (false :: y)).
Proof. simpl. rewrite app_nil_r. apply total_map. Qed.

Lemma total_some t p f : total (subsets (S t) (S p)) f
  = total (subsets t (S p)) (fun y => f (false :: y)) + total (subsets t p) (fun y => f (true :: y)).
Proof. cbn [subsets]. rewrite total_app, !total_map. reflexivity. Qed.

Definition count (T q : nat) : R := total (subsets T q) (fun _ => 1).

Lemma count_length T q : count T q = INR (length (subsets T q)).
Proof. unfold count. rewrite total_const. ring. Qed.

Lemma count_pos T q : (q <= T)%nat -> 0 < count T q.
Proof.
  revert q. induction T as [|t IH]; intros [|p] H; unfold count; try lia.
  - simpl. lra.
  - rewrite total_none. apply (IH 0%nat). lia.
  - rewrite total_some. change (0 < count t (S p) + count t p). pose proof (IH p ltac:(lia)).
    assert (0 <= count t (S p)) by (rewrite count_length; apply pos_INR). lra.
Qed.

(** (q + 1) binomial(T, q + 1) = (T − q) binomial(T, q). *)
Lemma count_next T q : INR (S q) * count T (S q) = (INR T - INR q) * count T q.
Proof.
  revert q. induction T as [|t IH]; intros [|p]; unfold count; rewrite ?total_some, ?total_none.
  - simpl. ring.
  - simpl. ring.
  - change (INR 1 * (count t 1 + count t 0) = (INR (S t) - INR 0) * count t 0).
    specialize (IH 0%nat). rewrite !S_INR in *. simpl INR in *. lra.
  - change (INR (S (S p)) * (count t (S (S p)) + count t (S p)) = (INR (S t) - INR (S p)) * (count t (S p) + count t
      p)).
    pose proof (IH p) as I1. pose proof (IH (S p)) as I2. rewrite !S_INR in *. lra.
Qed.

Theorem total_selected T q j : (j < T)%nat ->
  INR T * total (subsets T q) (fun y => selected y j) = INR q * count T q.
Proof.
  revert q j. induction T as [|t IH]; intros [|p] j Hj; [lia|lia| |]; unfold count; rewrite ?total_none, ?total_some.
  - destruct j as [|j]; [unfold selected; simpl nth; cbv iota; rewrite total_const; simpl INR; ring|].
    change (INR (S t) * total (subsets t 0) (fun y => selected y j) = INR 0 * count t 0).
    assert (0 < INR t) by (apply lt_0_INR; lia). specialize (IH 0%nat j ltac:(lia)). simpl INR at 2 in IH.
    assert (total (subsets t 0) (fun y => selected y j) = 0) by nra. simpl INR at 2. rewrite H0. ring.
  - destruct j as [|j].
    + unfold selected. simpl nth. cbv iota. rewrite total_const. fold (count t p) (count t (S p)).
      pose proof (count_next t p). rewrite !S_INR in *. lra.
    + change (INR (S t) * (total (subsets t (S p)) (fun y => selected y j) + total (subsets t p) (fun y => selected y
        j))
        = INR (S p) * (count t (S p) + count t p)).
      assert (0 < INR t) by (apply lt_0_INR; lia).
      pose proof (IH (S p) j ltac:(lia)) as I1. pose proof (IH p j ltac:(lia)) as I2. pose proof (count_next t p) as I3.
      apply Rmult_eq_reg_l with (INR t); [|lra]. rewrite !S_INR in *.
      set (a := total (subsets t (S p)) _) in *. set (b := total (subsets t p) _) in *. nra.
Qed.

Theorem total_both_selected T q i j : (i < T)%nat -> (j < T)%nat -> i <> j ->
  INR T * (INR T - 1) * total (subsets T q) (fun y => selected y i * selected y j) = INR q * (INR q - 1) * count T q.
Proof.
  revert q i j. induction T as [|t IH]; [lia|].
  (* the first token and another *)
  assert (F : forall q j, (j < t)%nat -> INR (S t) * (INR (S t) - 1)
      * total (subsets (S t) q) (fun y => selected y 0 * selected y (S j)) = INR q * (INR q - 1) * count (S t) q).
  { intros [|p] j Hj; unfold count; rewrite ?total_none, ?total_some; unfold selected at 1; simpl nth; cbv iota.
    - rewrite total_scal. simpl INR. ring.
    - rewrite total_scal, Rmult_0_l, Rplus_0_l. unfold selected at 1. simpl nth. cbv iota.
      rewrite total_scal. fold (count t p) (count t (S p)). pose proof (count_next t p) as I1.
      pose proof (total_selected t p j Hj) as I2.
      change (fun y : subset => selected (true :: y) (S j)) with (fun y => selected y j).
      rewrite !S_INR in *. set (a := total (subsets t p) _) in *.
      transitivity ((INR t + 1) * (INR t * a)); [ring|]. rewrite I2.
      transitivity (INR p * ((INR p + 1) * (count t (S p) + count t p))); [|ring].
      replace ((INR p + 1) * (count t (S p) + count t p)) with ((INR t + 1) * count t p) by lra. ring. }
  intros q i j Hi Hj N. destruct i as [|i], j as [|j]; [lia|apply F; lia| |].
  - rewrite (total_ext _ _ (fun y => selected y 0 * selected y (S i))) by (intros; ring). apply F; lia.
  - assert (1 < INR t) by (apply (lt_INR 1); lia).
    destruct q as [|p]; unfold count; rewrite ?total_none, ?total_some.
    + change (INR (S t) * (INR (S t) - 1) * total (subsets t 0) (fun y => selected y i * selected y j)
        = INR 0 * (INR 0 - 1) * count t 0).
      specialize (IH 0%nat i j ltac:(lia) ltac:(lia) ltac:(lia)). set (a := total _ _) in *.
      assert (0 < INR t * (INR t - 1)) by nra. assert (a = 0) by (simpl INR in IH; nra). rewrite H1. simpl INR. ring.
    + change (INR (S t) * (INR (S t) - 1) * (total (subsets t (S p)) (fun y => selected y i * selected y j)
        + total (subsets t p) (fun y => selected y i * selected y j)) = INR (S p) * (INR (S p) - 1) * (count t (S p) +
            count t p)).
      pose proof (IH (S p) i j ltac:(lia) ltac:(lia) ltac:(lia)) as I1.
      pose proof (IH p i j ltac:(lia) ltac:(lia) ltac:(lia)) as I2. pose proof (count_next t p) as I3.
      rewrite !S_INR in *. set (a := total (subsets t (S p)) _) in *. set (b := total (subsets t p) _) in *.
      set (x := INR t) in *. set (k := INR p) in *. set (u := count t (S p)) in *. set (v := count t p) in *.
      apply Rmult_eq_reg_l with (x - 1); [|lra].
      transitivity ((x + 1) * (x * (x - 1) * a) + (x + 1) * (x * (x - 1) * b)); [ring|]. rewrite I1, I2.
      transitivity ((x - 1) * (k * ((k + 1) * u)) + (x - 1) * (k * (k + 1) * v)); [|ring]. rewrite I3.
      transitivity ((x + 1) * (k * ((k + 1) * u)) + (x + 1) * (k * (k - 1) * v)); [ring|]. rewrite I3. ring.
Qed.

Lemma sum_first n f : sum (S n) f = f 0%nat + sum n (fun i => f (S i)).
Proof.
  induction n as [|n IH]; [simpl; ring|].
  change (sum (S n) f + f (S n) = f 0%nat + sum (S n) (fun i => f (S i))). rewrite IH. simpl. ring.
Qed.

(** A subset of q has q members. *)
Lemma members T q y : In y (subsets T q) -> sum T (selected y) = INR q.
Proof.
  revert q y. induction T as [|t IH]; intros q y H.
  - destruct q; simpl in H; [destruct H as [<-|[]]; reflexivity|destruct H].
  - rewrite sum_first. cbn [subsets] in H. apply in_app_or in H. destruct H as [H|H].
    + apply in_map_iff in H. destruct H as [z [<- H]]. change (0 + sum t (selected z) = INR q). rewrite (IH q z H).
      ring.
    + destruct q as [|p]; [destruct H|]. apply in_map_iff in H. destruct H as [z [<- H]].
      change (1 + sum t (selected z) = INR (S p)). rewrite (IH p z H), S_INR. ring.
Qed.

Lemma selected_range y i : 0 <= selected y i <= 1.
Proof. unfold selected. destruct (nth i y false); lra. Qed.

(** Of T tokens a subset of T selects each. *)
Lemma all_selected T y i : In y (subsets T T) -> (i < T)%nat -> selected y i = 1.
Proof.
  intros Hy Hi. pose proof (members T T y Hy) as M. rewrite <- (Rmult_1_r (INR T)), <- sum_const in M.
  assert (B : forall n, sum n (selected y) <= sum n (fun _ => 1)).
  { induction n as [|n IH]; simpl; [lra|]. pose proof (selected_range y n). lra. }
  assert (Less : forall n, (i < n)%nat -> sum n (selected y) <= sum n (fun _ => 1) - (1 - selected y i)).
  { induction n as [|n IH]; intro L; [lia|]. simpl. destruct (Nat.eq_dec i n) as [->|N]; [specialize (B n); lra|].
    pose proof (selected_range y n). specialize (IH ltac:(lia)). lra. }
  specialize (Less T Hi). pose proof (selected_range y i). lra.
Qed.

Section Mean.
Variables T q : nat.
Hypothesis Hq : (1 <= q <= T)%nat.

Lemma mean_over_ext f g : (forall y, In y (subsets T q) -> f y = g y) -> mean_over (subsets T q) f = mean_over
  (subsets T q) g.
Proof. intro H. unfold mean_over. f_equal. exact (total_ext _ f g H). Qed.

Lemma mean_over_plus f g : mean_over (subsets T q) (fun y => f y + g y) = mean_over (subsets T q) f + mean_over
  (subsets T q) g.
Proof.
  unfold mean_over.
  fold (total (subsets T q) f) (total (subsets T q) g) (total (subsets T q) (fun y => f y + g y)). rewrite total_plus.
  unfold Rdiv. ring.
Qed.

Lemma mean_over_scal c f : mean_over (subsets T q) (fun y => c * f y) = c * mean_over (subsets T q) f.
Proof.
  unfold mean_over. fold (total (subsets T q) f) (total (subsets T q) (fun y => c * f y)). rewrite total_scal.
  unfold Rdiv. ring.
Qed.

Lemma mean_over_const c : mean_over (subsets T q) (fun _ => c) = c.
Proof.
  unfold mean_over. fold (total (subsets T q) (fun _ => c)). rewrite total_const.
  pose proof (count_pos T q ltac:(lia)) as C. rewrite count_length in C. field. lra.
Qed.

Lemma mean_selected j : (j < T)%nat -> mean_over (subsets T q) (fun y => selected y j) = INR q / INR T.
Proof.
  intro Hj. unfold mean_over. fold (total (subsets T q) (fun y => selected y j)). rewrite <- count_length.
  pose proof (count_pos T q ltac:(lia)). assert (0 < INR T) by (apply lt_0_INR; lia).
  pose proof (total_selected T q j Hj) as E. apply Rmult_eq_reg_l with (INR T * count T q); [|nra].
  replace (INR T * count T q * (INR q / INR T)) with (INR q * count T q) by (field; lra). rewrite <- E. field. lra.
Qed.

Lemma mean_both_selected i j : (i < T)%nat -> (j < T)%nat -> i <> j ->
  mean_over (subsets T q) (fun y => selected y i * selected y j) = INR q * (INR q - 1) / (INR T * (INR T - 1)).
Proof.
  intros Hi Hj N. unfold mean_over. fold (total (subsets T q) (fun y => selected y i * selected y j)).
  rewrite <- count_length.
  pose proof (count_pos T q ltac:(lia)). assert (1 < INR T) by (apply (lt_INR 1); lia).
  pose proof (total_both_selected T q i j Hi Hj N) as E. set (a := total _ _) in *.
  apply Rmult_eq_reg_l with (INR T * (INR T - 1) * count T q); [|assert (0 < INR T * (INR T - 1)) by nra; nra].
  replace (INR T * (INR T - 1) * count T q * (INR q * (INR q - 1) / (INR T * (INR T - 1))))
    with (INR q * (INR q - 1) * count T q) by (field; lra). rewrite <- E. field. lra.
Qed.
End Mean.
