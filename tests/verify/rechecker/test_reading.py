"""A file that is no certificate is unreadable, whatever is wrong with its JSON."""

import pytest
import sympy as sp

from tests.verify.rechecker.cases import exact
from tests.verify.rechecker.certificates import X, certificate, changed, recheck, x, y
from verify import Hypothesis, Inequality, Statement
from verify.language.expressions import digest
from verify.rechecker import Unreadable, recheck_text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "no lemmascope-certificate"),
        (b"{}", "no lemmascope-certificate"),
        (b"null", "no lemmascope-certificate"),
        (b"\xff{}", "not UTF-8"),
        (b'{"format": "\\ud800"}', "not UTF-8"),
        (b'{"a": 1, "a": 1}', "'a' is repeated"),
        (b'{"a": 1.0}', "not an integer"),
        (b'{"a": 1e5}', "not an integer"),
        (b'{"a": NaN}', "not an integer"),
        (b'{"a": -Infinity}', "not an integer"),
        (b'{"a": -0}', "0 without a sign"),
        (b'{"a": ' + b"9" * 19 + b"}", "large numbers are written as strings"),
        (b'{"format": "lemmascope-certificate"}', "version: null"),
        (b'{"format": "lemmascope-certificate", "version": true}', "version: true"),
        (
            b'{"format": "lemmascope-certificate", "version": 1}',
            "version: 1 is not 3, the version that this program reads: write",
        ),
        (
            b'{"format": "lemmascope-certificate", "version": 2}',
            r"version: 2 is not 3.*0\.1\.0 reads it.*: write",
        ),
    ],
)
def test_texts_that_are_no_certificate_are_unreadable(text, why):
    with pytest.raises(Unreadable, match=why):
        recheck_text(text)


def test_strings_with_brackets_and_quotes_are_not_nested():
    made = exact()
    made["statement"]["claims"][0]["says"] = '"[{\\' * 300
    made["statement_digest"] = digest(made["statement"])
    assert recheck(made).in_scope


_STRANGE = ["a\nb accepted: wang2024.theorem1", "\x1b[2J", "\x1b]52;c;aGk=\x07", "\u202e", "a\r", "a\tb", "x" * 5000]
_PRINTED = {
    "label": "statement.claims.0.label",
    "says": "statement.claims.0.says",
    "hypothesis": "statement.hypotheses.0.label",
    "text": "statement.hypotheses.0.text",
    "parameter": "statement.parameters.0.name",
    "symbol": "statement.variables.0.1",
    "theorem": "theorem",
    "uses": "uses.0.0",
}


@pytest.mark.parametrize("strange", _STRANGE, ids=range(len(_STRANGE)))
@pytest.mark.parametrize("path", _PRINTED.values(), ids=_PRINTED)
def test_printed_texts_are_one_line_of_printable_characters(path, strange):
    statement = Statement(
        (X,), (Inequality("c", sp.Lt(x, 2)),), hypotheses=(Hypothesis("h", sp.Lt(x, 5), "small"),), variables=(y,)
    )
    made = certificate(statement, {"x": "1"}, ("verified", "certified", {"kind": "exact", "margin": "1"}))
    assert recheck(made).in_scope
    with pytest.raises(Unreadable, match=r"is not one line of at most \d+ printable characters") as caught:
        recheck(changed(made, path, strange))
    assert str(caught.value).isprintable() and len(str(caught.value)) < 200


@pytest.mark.parametrize("name", ["../../escaped", "a..b", ".a", "a.", "a/b", "", " a", "naïve", "a" * 101])
def test_an_id_is_made_of_parts_joined_by_dots(name):
    statement = Statement((X,), (Inequality("c", sp.Lt(x, 2)),))
    made = certificate(statement, {"x": "1"}, ("verified", "certified", {"kind": "exact", "margin": "1"}))
    assert recheck(made | {"theorem": "user.mine without first, second"}).theorem
    with pytest.raises(Unreadable, match="is no id"):
        recheck(made | {"theorem": name})
