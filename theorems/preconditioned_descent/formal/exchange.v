(** Lemma 4: with A_l = a_l K no order of the a_l changes the labels. *)

Require Import Reals Lra Lia Arith List Permutation.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
Import ListNotations.
Open Scope R_scope.

(** ** Layers as a list of step sizes, acting on the row of labels; k_{mj} = x_mᵀ K x_j *)

Section Labels.
Variables (n : nat) (k : matrix).

Definition stepped (a : R) (y : vector) : vector := fun j => y j - a * sum n (fun m => y m * k m j) / INR n.
Fixpoint after (steps : list R) (y : vector) : vector :=
  match steps with [] => y | a :: later => after later (stepped a y) end.

Lemma stepped_ext a y y' : (forall j, y j = y' j) -> forall j, stepped a y j = stepped a y' j.
Proof.
  intros H j. unfold stepped. rewrite H. do 3 f_equal. apply sum_ext. intros m _. rewrite H. reflexivity.
Qed.

Lemma after_ext steps : forall y y', (forall j, y j = y' j) -> forall j, after steps y j = after steps y' j.
Proof. induction steps as [|a steps IH]; intros y y' H; [exact H|]. apply IH, stepped_ext, H. Qed.

(** Two layers on a label are symmetric in a and b. *)
Lemma two_steps a b y j : stepped b (stepped a y) j =
  y j - (a + b) * sum n (fun m => y m * k m j) / INR n
  + a * b * sum n (fun m => sum n (fun i => y i * k i m) * k m j) / INR n / INR n.
Proof.
  unfold stepped at 1. rewrite (sum_ext n (fun m => stepped a y m * k m j)
    (fun m => y m * k m j - a / INR n * (sum n (fun i => y i * k i m) * k m j))).
  - rewrite sum_minus, sum_scal. unfold stepped, Rdiv. ring.
  - intros m _. unfold stepped, Rdiv. ring.
Qed.

Lemma neighbours_commute a b y j : stepped b (stepped a y) j = stepped a (stepped b y) j.
Proof. rewrite !two_steps. unfold Rdiv. ring. Qed.

(** Exchanges of neighbours generate every permutation. *)
Lemma after_any_order steps steps' : Permutation steps steps' -> forall y j, after steps y j = after steps' y j.
Proof.
  induction 1 as [|a l l' _ IH|a b l|l l' l'' _ IH _ IH']; intros y j; simpl.
  - reflexivity.
  - apply IH.
  - apply after_ext. intro. apply neighbours_commute.
  - rewrite IH. apply IH'.
Qed.

Lemma after_last steps a : forall y j, after (steps ++ [a]) y j = stepped a (after steps y) j.
Proof. induction steps as [|b steps IH]; intros y j; simpl; [reflexivity|apply IH]. Qed.
End Labels.

(** ** The steps of L layers as a list, and a permutation of them *)

Definition listed (L : nat) (a : nat -> R) : list R := map a (seq 0 L).

Lemma listed_last L a : listed (S L) a = listed L a ++ [a L].
Proof. unfold listed. rewrite seq_S, map_app. reflexivity. Qed.

Lemma listed_permuted L a s : permutation L s -> Permutation (listed L (fun l => a (s l))) (listed L a).
Proof.
  intros [B I]. unfold listed. rewrite <- (map_map s a). apply Permutation_map.
  apply NoDup_Permutation_bis.
  - apply NoDup_nth with (d := 0%nat). rewrite map_length, seq_length. intros i j Hi Hj.
    assert (At : forall i, (i < L)%nat -> nth i (map s (seq 0 L)) 0%nat = s i).
    { intros m Hm. rewrite nth_indep with (d' := s 0%nat) by (rewrite map_length, seq_length; exact Hm).
      rewrite map_nth, seq_nth by exact Hm. reflexivity. }
    rewrite !At by assumption. apply I; assumption.
  - rewrite map_length. reflexivity.
  - intros l Hl. apply in_map_iff in Hl as [i [<- Hi]]. apply in_seq in Hi. apply in_seq. specialize (B i). lia.
Qed.

(** The labels after L layers of pattern (8) are those after the listed steps. *)
Lemma labels_after d n L K a x y c j (Z := prompt d n x y c) :
  pattern_forward d n L (multiple a K) Z d j = after n (form d K x) (listed L a) (Z d) j.
Proof.
  revert j. induction L as [|L IH]; intro j; [reflexivity|].
  unfold Z. rewrite pattern_forward_label, listed_last, after_last. fold Z. unfold stepped at 1. rewrite IH.
  f_equal. f_equal. rewrite <- sum_scal. apply sum_ext. intros m _. rewrite IH.
  assert (E : form d (multiple a K L) x m j = a L * form d K x m j).
  { unfold form, multiple. rewrite <- sum_scal. apply sum_ext. intros i _.
    rewrite (sum_ext d _ (fun b => a L * (K i b * x b j))) by (intros; ring). rewrite sum_scal. ring. }
  rewrite E. ring.
Qed.

Theorem every_order : lemma4_every_order.
Proof.
  intros d n L K a s x y c _ Hs i j Hi Hj. destruct (Nat.eq_dec i d) as [->|N].
  - rewrite !labels_after. apply after_any_order, listed_permuted, Hs.
  - rewrite !pattern_forward_token by lia. reflexivity.
Qed.

Theorem loss_in_every_order : lemma4_loss.
Proof.
  intros d n L K a s E Hn Hs HE. apply HE. intros x w. unfold error, prediction.
  pose proof (every_order d n L K a s x (labels d x w) 0 Hn Hs d n ltac:(lia) ltac:(lia)) as O.
  unfold pattern_forward in O. rewrite O. reflexivity.
Qed.

(** ** A_0 = e_1 e_1ᵀ and A_1 = e_1 e_2ᵀ do not commute: x_1 = e_1, x_2 = e_2, n = 1 *)

Definition unit_matrix (r c : nat) : matrix := fun i j => if andb (i =? r) (j =? c) then 1 else 0.
Definition unit_tokens : matrix := fun i j => if i =? j then 1 else 0.

Theorem order_matters : lemma4_any_matrices.
Proof.
  exists 2%nat, 1%nat, (unit_matrix 0 0), (unit_matrix 0 1), unit_tokens, (fun _ => 1). split; [lia|].
  rewrite !pattern_forward_label. cbn [sum]. rewrite !pattern_forward_label.
  unfold pattern_forward, form, unit_matrix, unit_tokens, prompt. simpl. lra.
Qed.
