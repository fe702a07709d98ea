"""The full settings of the figures' training are the paper's, and loading them does not load PyTorch."""

import subprocess
import sys

from numerics.sparse_token_selection.settings import TRAINING, changed
from verify import load_experiment


def test_the_full_training_is_the_papers():
    full = {setting.parameter.name: setting.full for setting in load_experiment("wang2024.figure1").settings}
    printed = {"T": 200, "q": 3, "d": 5, "d_e": 170, "batch_size": 256, "n_test": 128}
    printed |= {"eta": 1, "late": 50_000, "steps": 100_000}
    assert {name: full[name] for name in printed} == printed and full["attend"] == "tokens_and_query"


def test_settings_are_changed_by_their_names():
    both = {s.parameter.name: (s.quick, s.full) for s in changed(TRAINING, steps=(4, 8), dtype=("float32", "float32"))}
    before = {s.parameter.name: (s.quick, s.full) for s in TRAINING}
    # Words are stored unchanged, and numbers exactly.
    assert both == before | {"steps": (4, 8), "dtype": ("float32", "float32")}


def test_pytorch_is_not_loaded():
    code = "import sys, numerics.sparse_token_selection.settings; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
