"""The generated parts of pages are up to date; `python -m docs.extensions.generated` writes them."""

import pytest

from docs.extensions import generated, picture

PAGES = [
    # Generating the page `json` runs every verb.
    pytest.param(path, id=path.stem, marks=pytest.mark.audit if path.stem == "json" else ())
    for path in generated.with_parts()
]


@pytest.fixture(scope="module")
def made():
    return generated.parts()


@pytest.mark.parametrize("path", PAGES)
def test_a_part_is_what_the_code_makes(path, made):
    text = path.read_text(encoding="utf-8")
    assert generated.rewritten(text, made) == text


def test_every_part_stands_on_a_page(made):
    text = "".join(path.read_text(encoding="utf-8") for path in generated.with_parts())
    assert all(f"<!-- generated: {name} -->" in text for name in made)


def test_the_picture_is_what_the_code_makes():
    assert generated.PICTURE.read_text(encoding="utf-8") == picture.subpackages()


def test_a_part_is_made_between_its_marks_alone(made):
    page = "a\n\n<!-- generated: own -->\nold\n<!-- end -->\n\nb\n"
    after = generated.rewritten(page, {"own": lambda: "new\n"})
    assert after == "a\n\n<!-- generated: own -->\n\nnew\n\n<!-- end -->\n\nb\n"
    assert generated.rewritten(after, {"own": lambda: "new\n"}) == after
    with pytest.raises(KeyError, match="own"):
        generated.rewritten(page, made)
