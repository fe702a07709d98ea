"""What is no certificate is unreadable, whatever is wrong with its JSON."""

import pytest

from tests.verify.rechecker.cases import exact
from tests.verify.rechecker.certificates import recheck
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
        (b"[" * 201 + b"]" * 201, "nested more than 200 deep"),
        (b'{"format": "lemmascope-certificate"}', "version: null"),
        (b'{"format": "lemmascope-certificate", "version": true}', "version: true"),
        (b'{"format": "lemmascope-certificate", "version": 1}', "version: 1 is not 2.*write the certificate anew"),
    ],
)
def test_what_is_no_certificate_is_unreadable(text, why):
    with pytest.raises(Unreadable, match=why):
        recheck_text(text)


def test_strings_with_brackets_and_quotes_are_not_nested():
    made = exact()
    made["statement"]["claims"][0]["says"] = '"[{\\' * 300
    made["statement_digest"] = digest(made["statement"])
    assert recheck(made).in_scope
