"""Files made to exhaust the re-checker: each is answered, with bounded work and in a process of bounded memory."""

import json
import sys
from fractions import Fraction

import pytest

from tests.verify.rechecker.bombs import BOMBS
from tests.verify.rechecker.fuzz import answers
from verify.rechecker import Rejected, TooLarge, Unreadable, reading, recheck_text

FUZZ = "tests.verify.rechecker.fuzz"
AT_ONCE = {
    "brackets": "lists and objects in each other",
    "a margin of many digits": "digits of a number",
    "many symbols": "symbols",
    "a step of 2^(10^12)": "bits in the clause's last step",
    "a step of 2^(2*10^10)": "bits in the clause's last step",
    "doubling, exactly": "bits of a number",
    "doubling polynomials": "in an exponent",
    "many steps of many bits": "microseconds of work, nominally",
    "squares down to 0": "bits in the exponent of a ball",
    "a long cycle": "microseconds of work, nominally",
    "many cuts": "cuts",
    "long words of long numbers": "microseconds of work, nominally",
    "many words": "monomials of a product",
    "halves of exponents": "in an exponent",
    "transposes in each other": "bytes of new objects",
    "a sum of transposes": "bytes of new objects",
    "matrices of many denominators": "microseconds of work, nominally",
}
"""Files that are answered after little work, with the quantity that is too large."""
ACCEPTED = {
    *("a limit of long powers", "a sum half subtracted", "clauses of many parameters", "hypotheses of many parameters"),
    *("many signs", "many slacks, cubed", "many words of parameters", "many words that choose"),
    "matrices to powers that cancel",
    "long ends of a box",
}
"""Files that prove their claims with less work and memory than the limits."""


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_file_that_is_too_large_is_rejected_with_its_limit(name):
    with pytest.raises(TooLarge, match=r"^too large: .*more than \d+ ") as caught:
        recheck_text(BOMBS[name]())
    assert caught.value.limited == AT_ONCE[name] and caught.value.most


def test_a_file_that_takes_all_the_memory_is_too_large(monkeypatch):
    def out_of_memory(*_):
        raise MemoryError

    monkeypatch.setattr("verify.rechecker.parse", out_of_memory)
    with pytest.raises(TooLarge, match="too large: more memory than there is") as caught:
        recheck_text(b"{}")
    assert caught.value.most is None and caught.value.__context__ is None


def test_a_file_that_takes_all_of_the_stack_is_too_large(monkeypatch):
    def deeper(*_):
        return deeper()

    monkeypatch.setattr("verify.rechecker.parse", deeper)
    with pytest.raises(TooLarge, match="calls in each other"):
        recheck_text(b"{}")


def test_work_and_bytes_are_counted_before_they_are_spent():
    effort = reading.Effort(work=10, made=100)
    effort.spend(9)
    effort.make(60)
    effort.fit(40)
    with pytest.raises(TooLarge, match="more than 100 bytes"):
        effort.fit(41)
    with pytest.raises(TooLarge, match="more than 100 bytes"):
        effort.make(41)
    with pytest.raises(TooLarge, match="more than 10 microseconds"):
        effort.spend(2)


def test_a_sum_of_products_counts_how_long_its_sums_become():
    values, effort = [Fraction(1, 10**3000 + k) for k in range(10)], reading.Effort()
    assert reading.dot(effort, values, [Fraction(1)] * 10) == sum(values)
    products = sum(5 + reading.work(x, Fraction(1)) for x in values)
    assert effort.most[0] - effort.left > 10 * products


@pytest.mark.skipif(sys.platform == "win32", reason="a process's addresses are limited by POSIX alone")
def test_a_few_drawn_files_are_answered():
    rows, largest = answers(FUZZ, "--count", "12", "--seed", "5")
    assert len(rows) == 12 and largest["made"] < 1.5 * reading.MOST_MADE


@pytest.mark.audit
@pytest.mark.parametrize("arguments", [["--named"], ["--count", "300", "--seed", "0"]], ids=["named", "drawn"])
def test_every_file_is_answered_in_a_process_of_15_gigabytes(arguments, record_property):
    rows, largest = answers(FUZZ, *arguments)
    record_property("largest", largest)
    # Memory is counted after it is allocated, so it may exceed the limit by the memory of one operation.
    assert len(rows) == (300 if "--count" in arguments else len(BOMBS)) and largest["made"] < 1.5 * reading.MOST_MADE
    accepted = {row["name"] for row in rows if row["verdict"] == "accepted"}
    if arguments == ["--named"]:
        assert accepted == ACCEPTED


def test_no_bomb_is_a_certificate_of_another_version():
    # A file of an unknown version would be answered at once, and would test nothing.
    for name, made in BOMBS.items():
        text = made() if name in AT_ONCE else b""
        if text.startswith(b'{"format"'):
            assert json.loads(text)["version"] == 3, name
    with pytest.raises((Rejected, Unreadable), match=r"^(?!version)"):
        recheck_text(BOMBS["margins at the limit"]())
