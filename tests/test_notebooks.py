"""The notebooks of `docs/` run, each in its own kernel and an empty folder, and their output agrees with their text."""

import html
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import verify

ROOT = Path(verify.__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SECONDS = 120
"""The time limit of a cell in seconds, for a busy machine. On an idle machine a whole notebook takes 8 to 16 s."""
PICTURE = "a picture"
SHOWN = {
    "step_size": {
        "conditions": [
            "fails step_size",
            "-499/500",
            "500 times the limit",
            "given 1 (500 times); holds for eta < 1194/229 (2 607 times)",
            "out of scope",
        ],
        "covered": ["steps_to_epsilon 303823", "verified (certified); for all parameters: formal"],
        "beyond": ["steps_to_epsilon 607", "out of scope; the claim there: verified (certified)"],
        "ratio": ["500.53"],
        "how_far": [
            "step_size: eta <= 1/20; holds for eta < 16/7 (45.7 times)",
            "refuted at",
            "the range between these values is open",
        ],
        "sweep": ["verified in scope 1", "verified out of scope 6", "refuted out of scope 1", "9 of 9 instances"],
        "plot": [PICTURE],
        "rows": [
            "('1/20', 'verified', 'certified')",
            "('140/33', 'inconclusive', None)",
            "(8, 'refuted', 'certified')",
        ],
    },
    "own_lemma": {
        "draft": [r"step_size $\eta < \frac{2}{L}$"],
        "check": ["verified (certified); for all parameters: open"],
        "explore": ["mu=1/2 u=1 L=1 eta=3/2 slowest", "counterexample found"],
        "refuted": ["-3/16", "refuted (certified)"],
        "mended": ["smallest relative margin 0", "no counterexample found"],
        "prove": ["claim proved positive slowest"],
        "necessity": [f"needed {label}" for label in ("least", "largest", "step_size")],
        "certificate": ["[('slowest', 'verified', 'proved', 'positive')]"],
        "file": ["verified (proved); for all parameters: proved"],
    },
    "figure_against_theory": {
        "simulate": ["transformer n: examples in the prompt 4", "seed 0"],
        "plot": [PICTURE],
        "exact": [
            "minimum_loss 237/1375",
            "verified (certified, trusting lemmascope.wishart/1) minimum",
            "verified (certified, trusting lemmascope.layers/1) vanishes",
        ],
        "table": ["'261/155'", "'393/383'", "'657/1379'", "'237/1375'"],
        "planted": ["'3/5'"],
        "comparison": ["'verified', 'simulated', 'preconditioned_gradient_descent at n=16"],
    },
}
"""The words that the output of each notebook's cells must contain."""


def run(notebook, folder):
    """Return the output of each code cell, by the cell's id; raise CellExecutionError if a cell fails."""
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(folder)}}).execute()
    return {cell.id: "\n".join(map(text, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"}


def text(output):
    """Return an output as a line: the text of its HTML, otherwise `PICTURE` for an image, otherwise its plain text."""
    data = output.get("data", {})
    if "text/html" in data:
        return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", data["text/html"])).split())
    # An empty picture has fewer characters.
    if len(data.get("image/png", "")) > 10_000:
        return PICTURE
    return " ".join(data.get("text/plain", "").split())


def missing(shown, expected):
    return [(cell, words) for cell, lines in expected.items() for words in lines if words not in shown.get(cell, "")]


def deviations(shown, cell):
    """Return the last number of each row of a cell's output."""
    return [float(number) for number in re.findall(r", (-?\d+\.\d+)\)", shown[cell])]


def test_every_notebook_is_tested():
    assert [path.stem for path in NOTEBOOKS] == sorted(SHOWN)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_what_it_showed(path):
    kept = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(kept, 4)
    nbformat.validate(notebook)
    assert kept == nbformat.writes(notebook) + "\n" and set(notebook.metadata) == {"kernelspec", "language_info"}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    assert {cell.id for cell in code} == set(SHOWN[path.stem])
    # The ids are words, because they name the cells in this test and in diffs.
    assert all(re.fullmatch(r"[a-z_]+", cell.id) and not cell.metadata for cell in notebook.cells)


@pytest.mark.parametrize(
    "path",
    # `make audit` runs the other notebooks.
    [pytest.param(path, id=path.stem, marks=[pytest.mark.audit] * (path.stem != "own_lemma")) for path in NOTEBOOKS],
)
def test_a_notebook_shows_what_it_says(path, tmp_path):
    shown = run(nbformat.read(path, 4), tmp_path)
    assert missing(shown, SHOWN[path.stem]) == []
    if path.stem == "figure_against_theory":
        # The theorem's values deviate only by chance: with a fixed seed, the probability that one of 4 points exceeds
        # 4.5 standard errors is below 10^-4. The planted values are far off.
        assert len(deviations(shown, "table")) == 4 and max(map(abs, deviations(shown, "table"))) < 4.5
        assert len(deviations(shown, "planted")) == 4 and max(deviations(shown, "planted")) < -15
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_number_is_seen():
    expected = {"ratio": ["500.53"], "plot": [PICTURE]}
    assert missing({"ratio": "([303823, 607], 500.53)", "plot": PICTURE}, expected) == []
    assert missing({"ratio": "([303823, 706], 430.34)", "plot": ""}, expected) == [
        ("ratio", "500.53"),
        ("plot", PICTURE),
    ]
    assert text({"data": {"image/png": "iVBOR", "text/plain": "<Figure>"}}) == "<Figure>"


def test_a_cell_that_fails_is_seen(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import verify; verify.check('no.theorem')")])
    with pytest.raises(CellExecutionError, match="unknown id"):
        run(notebook, tmp_path)
