"""Text of a file or of a user is shown as plain text in every form of the program's output."""

import io
import json
import re
from contextlib import contextmanager
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import sympy as sp

import theorems
import verify
from verify import Enclosure, Evidence, ForAll, Hypothesis, Inequality, InputError, Outcome, Parameter
from verify.checking.derivation import CheckedStep
from verify.outcomes import ClauseResult, Established
from verify.reports.commands import frame
from verify.reports.commands.files import _recheck_line
from verify.reports.display import latex, rendering
from verify.reports.display.layout import fitted, stated_table
from verify.reports.display.pages import Page, Table, Written
from verify.reports.display.short import fitted as shortened
from verify.reports.page.elements import tag
from verify.reports.plots.experiment_plots import as_typed
from verify.reports.text import check_text
from verify.shown import visible

SPOOFS = {
    "the screen is cleared": "\x1b[2J",
    "the clipboard is written": "\x1b]52;c;YQ==\x07",
    "a second verdict": "\nverified: wang2024.theorem1",
    "a carriage return": "\rverified",
    "from right to left": "\u202edeifirev",
    "half a letter": "\udc80",
    "a script": "<script>alert(1)</script>",
    "an attribute": '" onmouseover="alert(1)',
    "rich markup": "[red]verified[/red]",
    "mathematics": "$\\input{x}$",
    "a cell": "a | b",
    "code": "`a`",
}
spoofed = pytest.mark.parametrize("spoof", SPOOFS.values(), ids=SPOOFS)
SHIPPED = Path(theorems.__file__).parent / "certificates" / "wang2024.lemma1.json"
x = sp.Symbol("x", real=True)


def shows(text):
    """Whether all characters of a text except its line breaks are printable."""
    return all(line.isprintable() for line in text.split("\n"))


def page(spoof):
    table = Table(spoof, ("name", spoof), ((f"a{spoof}", Written(f"x{spoof}", "x^{2}")), ("b", spoof)))
    return Page(f"title{spoof}", (f"line{spoof}",), (table,), f"end{spoof}")


@spoofed
def test_printable_characters_stay_and_others_are_written_out(spoof):
    said = visible(spoof)
    assert said.isprintable() and visible(said) == said and (said == spoof) == spoof.isprintable()
    assert said in repr(spoof) or spoof.isprintable()
    assert visible("für η ≤ ½ 定理") == "für η ≤ ½ 定理"
    assert visible(f"a\n{spoof}b", lines=True).startswith("a\n")


@spoofed
def test_a_line_of_text_stays_one(spoof):
    assert fitted([f"a{spoof}b", "c"]).split("\n") == [f"a{visible(spoof)}b", "c"]
    rows = list(stated_table("title", "", [("label" + spoof, "text" + spoof, "")]))
    assert rows == ["title", f"  label{visible(spoof)}  text{visible(spoof)}"]
    said = shortened("<Result ", f"a{spoof}b")
    assert said.isprintable() and said == f"<Result a{visible(spoof)}b>"


def _checked(make_theorem, spoof):
    """Return a check's result in which every text contains `spoof`."""
    theorem = make_theorem(Inequality("c", sp.Le(x, 2)), hypotheses=(Hypothesis("h", sp.Le(x, 2)),))
    result = verify.check(theorem, x=1)
    clause = replace(result.clauses[0], label=f"c{spoof}", claim=f"claim{spoof}", detail=f"detail{spoof}")
    held = replace(result.hypotheses[0], label=f"h{spoof}", statement=f"said{spoof}", detail=f"why{spoof}")
    return replace(
        result,
        theorem=f"user.t{spoof}",
        statement=None,
        clauses=(clause,),
        hypotheses=(held,),
        values={f"v{spoof}": 1},
        rests_on={f"user.o{spoof}": Established(ForAll.OPEN, why=f"open{spoof}")},
    )


@spoofed
def test_a_result_of_spoofed_parts_says_no_more_than_it_is(make_theorem, spoof):
    result = _checked(make_theorem, spoof)
    text = check_text(result, 1000)
    assert shows(text) and shows(str(result)) and repr(result).isprintable()
    # The text has as many lines as if nothing were spoofed.
    assert text.count("\n") == check_text(_checked(make_theorem, "X"), 1000).count("\n")
    for said in (result._repr_html_(), result._repr_markdown_()):
        assert shows(said) and "<script" not in said


class _Read(HTMLParser):
    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.seen, self.named, self.said = set(), set(), ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.named |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.said += data


@spoofed
def test_html_shows_it_as_text(spoof):
    read = _Read(rendering.html(page(spoof)))
    assert read.seen <= {"div", "strong", "p", "table", "caption", "thead", "tbody", "tr", "th", "td", "span"}
    assert read.named <= {"class", "title"} and read.said.count(visible(spoof)) == 7 and read.said.isprintable()
    of_the_report = _Read(tag("p", f"a{spoof}", title=spoof))
    assert of_the_report.seen == {"p"} and of_the_report.named == {"title"}
    assert shows(of_the_report.said) and visible(spoof, lines=True) in of_the_report.said


@spoofed
def test_a_table_of_markdown_keeps_its_cells(spoof):
    said = rendering.markdown(page(spoof))
    assert shows(said) and "<script" not in said
    rows = [line for line in said.split("\n") if line.startswith("|")]
    assert len(rows) == 4 and all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)
    # Outside the formula nothing is code or mathematics.
    assert not re.search(r"(?<!\\)[`$]", said.replace("$x^{2}$", ""))


@spoofed
def test_latex_has_no_command_of_it(spoof):
    document, shown = latex.document(page(spoof)), rendering.latex(page(spoof))
    assert document.isascii() and shows(document) and shows(shown)
    for text in (document, shown):
        assert not re.search(r"\\input|\\alert", text)
        bare = re.sub(r"\\[{}]", "", text)
        assert bare.count("{") == bare.count("}")
    # The remaining $ signs come in pairs: around the formula, and around letters in mathematics.
    assert len(re.findall(r"(?<!\\)\$", document)) % 2 == 0


@spoofed
def test_text_of_a_page_is_a_line_a_row(spoof):
    lines = rendering.plain(page(spoof)).split("\n")
    assert len(lines) == 6 and all(line.isprintable() for line in lines) and lines[-1] == f"end{visible(spoof)}"


@spoofed
def test_a_step_is_three_lines(spoof):
    step = CheckedStep(1, f"because{spoof}", x + x, 2 * x)
    assert step.text().split("\n") == [f"1. because{visible(spoof)}", "   2*x", "     = 2*x"]


@spoofed
def test_an_error_is_a_line_with_what_was_typed(spoof):
    error = InputError(f"T{spoof}", spoof, f"must not be{spoof}")
    assert str(error).isprintable() and (error.name, error.value) == (f"T{spoof}", spoof)
    said = " ".join(visible(spoof).split())
    assert str(error).startswith(f"T{said} = {said}: must not be")


@contextmanager
def _terminal(monkeypatch):
    """Make standard error a terminal, and yield it; the clock is so fast that every progress bar is shown."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream, late = Terminal(), iter(range(0, 10**6, 10))
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("time.monotonic", lambda: next(late))
    yield stream


def test_a_progress_bar_reads_no_markup(monkeypatch):
    with _terminal(monkeypatch) as stream, frame.bar_shown("a[red]b[/red]{task}\x1b[2J") as tell:
        tell(1, 2)
    assert r"a[red]b[/red]{task}\x1b[2J" in stream.getvalue() and "\x1b[2J" not in stream.getvalue()


@spoofed
def test_messages_warnings_and_errors_are_printable(capsys, spoof):
    frame.say(f"one{spoof}\ntwo")
    frame.warn(f"careful{spoof}")
    assert frame.fail(f"wrong{spoof}", 2) == 2
    out, err = capsys.readouterr()
    assert shows(out) and shows(err) and err.count("\n") == 2
    assert err.startswith(f"careful{visible(spoof)}\nverify: wrong")


@spoofed
def test_json_is_ascii(capsys, spoof):
    frame.print_json({"label": spoof})
    out = capsys.readouterr().out
    assert out.isascii() and shows(out) and json.loads(out)["label"] == spoof


@spoofed
@pytest.mark.parametrize(
    "words",
    [
        ("check", "{}.py:t"),
        ("check", "{}"),
        ("check", "wang2024.theorem1", "T={}"),
        ("check", "wang2024.theorem1", "{}=1"),
        ("check", "wang2024.theorem1", "--format", "{}"),
        ("check", "wang2024.theorem1", "--seconds", "{}"),
        ("explore", "wang2024.theorem1", "--drop", "{}"),
        ("sweep", "wang2024.theorem1", "--over", "{}"),
        ("list", "--paper", "{}"),
        ("list", "{}"),
        ("{}",),
        ("recheck", "{}.json"),
        ("new", "{}.py"),
        ("report", "--out", "/dev/null/{}"),
    ],
    ids=" ".join,
)
def test_typed_arguments_are_shown_on_one_line(cli, monkeypatch, tmp_path, words, spoof):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli(*(word.format(spoof) if "{}" in word else word for word in words))
    assert code == 2 and out == "" and err.count("\n") == 1 and shows(err)
    for strange in ("\x1b", "\u202e"):
        if strange in spoof:
            assert visible(strange) in err


@spoofed
def test_a_certificate_that_is_rechecked_is_a_line(cli, tmp_path, spoof):
    data = json.loads(SHIPPED.read_text(encoding="utf-8"))
    data["theorem"] = f"user.t{spoof}"
    file = tmp_path / "spoof.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    code, out, err = cli("recheck", str(file))
    assert code in (0, 1, 2) and shows(out + err) and (out + err).count("\n") == 1
    assert (out + err).startswith(f"{file}: ")


@spoofed
def test_a_file_of_a_strange_name_is_rechecked_under_it(cli, tmp_path, spoof):
    name = re.sub("[/\0]", "_", spoof)
    file = tmp_path / f"a{name}.json"
    file.write_bytes(SHIPPED.read_bytes())
    code, out, err = cli("recheck", str(file))
    assert (code, err) == (0, "") and out.count("\n") == 1
    assert out.startswith(f"{tmp_path}/a{visible(name)}.json: accepted: wang2024.lemma1 ")


@spoofed
def test_an_accepted_certificate_of_spoofed_labels_is_a_line(spoof):
    clause = {"label": f"c{spoof}", "outcome": "verified", "evidence": "proved", "kind": "identity"}
    clause["trusts"] = [{"name": f"a.b{spoof}", "version": 1, "package": f"p{spoof}", "digest": "0" * 64}]
    row = {"path": f"a{spoof}.json", "status": "accepted", "theorem": f"user.t{spoof}", "statement_digest": "0" * 64}
    line = _recheck_line(
        {**row, "instance": {"x": f"1{spoof}"}, "in_scope": True, "pinned": True, "clauses": [clause], "trusts": []}
    )
    assert line.isprintable() and line.startswith(f"a{visible(spoof)}.json: accepted: user.t{visible(spoof)} ")
    assert _recheck_line({**row, "status": "rejected", "reason": f"no{spoof}"}).isprintable()


@spoofed
def test_a_figure_shows_a_label_as_it_is(make_theorem, spoof):
    label = as_typed(spoof)
    assert label.isprintable() and not re.search(r"(?<!\\)\$", label)
    shown = "".join(letter if letter.isprintable() else "?" for letter in spoof).translate(str.maketrans("", "", ".:;"))
    clause = Inequality(f"c{shown}", sp.Le(x, 2), f"claim {shown}")
    made = make_theorem(clause, parameters=(Parameter("x", "rational", shown),), hypotheses=(Hypothesis("h", x <= 9),))
    figure = verify.sweep(made, {"x": [1, 3]}).plot().figure
    figure.canvas.draw()
    from matplotlib import pyplot

    pyplot.close(figure)


def test_a_clause_and_an_enclosure_by_hand_are_lines():
    clause = ClauseResult(label="c\x1b[2J", claim="x\n<= 2", outcome=Outcome.VERIFIED, evidence=Evidence.CERTIFIED)
    assert repr(clause).isprintable() and repr(Enclosure(1, 2)) == "<Enclosure between 1 and 2>"
