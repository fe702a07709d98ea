(** Finite sums, and a layer: a column sees the examples alone, and a layer of pattern (8) moves the labels alone. *)

Require Import Reals Lra Lia Arith.
From Formal Require Export sums.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims.
Open Scope R_scope.

(** ** Sums *)

Lemma sum_single n f j : (j < n)%nat -> (forall i, (i < n)%nat -> i <> j -> f i = 0) -> sum n f = f j.
Proof.
  intros Hj H. induction n as [|n IH]; [lia|]. simpl. destruct (Nat.eq_dec j n) as [->|N].
  - rewrite sum_zero; [ring|]. intros i Hi. apply H; lia.
  - rewrite IH, (H n) by (lia || (intros; apply H; lia)). ring.
Qed.

(** ** A layer *)

(** M removes the query's column. *)
Lemma masked n C i m : (m <= n)%nat -> product (S n) C (mask n) i m = if m <? n then C i m else 0.
Proof.
  intro Hm. unfold product. rewrite (sum_single _ _ m); unfold mask; [|lia|].
  - rewrite Nat.eqb_refl. simpl. destruct (m <? n); ring.
  - intros k _ N. rewrite (proj2 (Nat.eqb_neq k m)) by exact N. simpl. ring.
Qed.

(** (Zᵀ Q Z)_{mj}: column m as seen by column j. *)
Definition seen (d : nat) (Q Z : matrix) (m j : nat) : R := product (S d) (transpose Z) (product (S d) Q Z) m j.

Lemma layer_entry d n P Q Z i j :
  layer d n P Q Z i j = Z i j + sum n (fun m => product (S d) P Z i m * seen d Q Z m j) / INR n.
Proof.
  unfold layer, attention. f_equal. f_equal. fold (seen d Q Z). unfold product at 1. change (sum (S n)) with
    (fun f => sum n f + f n). cbv beta. rewrite (masked n _ i n), Nat.ltb_irrefl by lia.
  rewrite (sum_ext n _ (fun m => product (S d) P Z i m * seen d Q Z m j)); [ring|].
  intros m Hm. rewrite masked by lia. rewrite (proj2 (Nat.ltb_lt m n) Hm). reflexivity.
Qed.

(** ** A layer of pattern (8) *)

Lemma pattern_P_token d Z i m : (i < d)%nat -> product (S d) (pattern_P d) Z i m = 0.
Proof.
  intro Hi. apply sum_zero. intros k _. unfold pattern_P. rewrite (proj2 (Nat.eqb_neq i d)) by lia. simpl. ring.
Qed.

Lemma pattern_P_label d Z m : product (S d) (pattern_P d) Z d m = Z d m.
Proof.
  unfold product. rewrite (sum_single _ _ d); unfold pattern_P; [|lia|]; rewrite Nat.eqb_refl; simpl.
  - ring.
  - intros k _ N. rewrite (proj2 (Nat.eqb_neq k d)) by exact N. ring.
Qed.

(** x_mᵀ A x_j. *)
Definition form (d : nat) (A x : matrix) (m j : nat) : R := sum d (fun a => x a m * sum d (fun b => A a b * x b j)).

Lemma pattern_Q_seen d A Z m j : seen d (pattern_Q d A) Z m j = - form d A Z m j.
Proof.
  unfold seen, product at 1, transpose. simpl sum.
  assert (Row : forall a, product (S d) (pattern_Q d A) Z a j
    = if a <? d then - sum d (fun b => A a b * Z b j) else 0).
  { intro a. unfold product, pattern_Q. simpl. rewrite Nat.ltb_irrefl, Bool.andb_false_r. destruct (a <? d); simpl.
    - rewrite (sum_ext d _ (fun b => -1 * (A a b * Z b j))), sum_scal; [ring|].
      intros b Hb. rewrite (proj2 (Nat.ltb_lt b d) Hb). ring.
    - rewrite sum_zero; intros; ring. }
  rewrite Row, Nat.ltb_irrefl. unfold form.
  rewrite (sum_ext d _ (fun a => -1 * (Z a m * sum d (fun b => A a b * Z b j)))), sum_scal; [ring|].
  intros a Ha. rewrite Row, (proj2 (Nat.ltb_lt a d) Ha). ring.
Qed.

Lemma pattern_token d n A Z i j : (i < d)%nat -> layer d n (pattern_P d) (pattern_Q d A) Z i j = Z i j.
Proof.
  intro Hi. rewrite layer_entry, sum_zero; [unfold Rdiv; ring|]. intros m _. rewrite pattern_P_token by exact Hi. ring.
Qed.

Lemma pattern_label d n A Z j :
  layer d n (pattern_P d) (pattern_Q d A) Z d j = Z d j - sum n (fun m => Z d m * form d A Z m j) / INR n.
Proof.
  rewrite layer_entry. rewrite (sum_ext n _ (fun m => -1 * (Z d m * form d A Z m j))), sum_scal.
  - unfold Rdiv. ring.
  - intros m _. rewrite pattern_P_label, pattern_Q_seen. ring.
Qed.

Lemma form_ext d A x x' m j : (forall i, (i < d)%nat -> x i m = x' i m) -> (forall i, (i < d)%nat -> x i j = x' i j) ->
  form d A x m j = form d A x' m j.
Proof.
  intros Hm Hj. apply sum_ext. intros a Ha. rewrite Hm by exact Ha. f_equal.
  apply sum_ext. intros b Hb. rewrite Hj by exact Hb. reflexivity.
Qed.

(** ** Prompts *)

Lemma prompt_token d n x y c i j : (i < d)%nat -> prompt d n x y c i j = x i j.
Proof. intro H. unfold prompt. rewrite (proj2 (Nat.ltb_lt i d) H). reflexivity. Qed.

Lemma prompt_label d n x y c j : (j < n)%nat -> prompt d n x y c d j = y j.
Proof. intro H. unfold prompt. rewrite Nat.ltb_irrefl, (proj2 (Nat.ltb_lt j n) H). reflexivity. Qed.

Lemma prompt_query d n x y c : prompt d n x y c d n = c.
Proof. unfold prompt. rewrite !Nat.ltb_irrefl. reflexivity. Qed.

(** Layers of pattern (8) do not change the tokens, and change the labels as `pattern_label` says. *)
Lemma pattern_forward_token d n L A x y c i j : (i < d)%nat ->
  pattern_forward d n L A (prompt d n x y c) i j = x i j.
Proof.
  intro Hi. unfold pattern_forward. induction L as [|L IH]; simpl; [apply prompt_token, Hi|].
  rewrite pattern_token by exact Hi. exact IH.
Qed.

Lemma pattern_forward_label d n L A x y c j (Z := fun l => pattern_forward d n l A (prompt d n x y c)) :
  Z (S L) d j = Z L d j - sum n (fun m => Z L d m * form d (A L) x m j) / INR n.
Proof.
  unfold Z at 1, pattern_forward. simpl. rewrite pattern_label. fold (pattern_forward d n L A (prompt d n x y c)).
  f_equal. f_equal. apply sum_ext. intros m _. f_equal.
  apply form_ext; intros i Hi; apply pattern_forward_token; exact Hi.
Qed.
