"""The graph of the results' dependencies, coloured by their standing, and the graph of each result's argument."""

from collections.abc import Iterator

from verify.checking.argument import Inference, theorem_of
from verify.checking.theorem import Theorem
from verify.outcomes import ForAll, count_text
from verify.reports.page.contents import Contents, Known
from verify.reports.page.elements import Html, Node, anchor, badge, details, framed, items, joined, link, table, tag
from verify.reports.page.layers import Arrow, Box, drawn

_TEXT = (
    "Each box is a result, coloured by its standing for all parameters. An arrow leads to what its proof uses: "
    "dashed if through inferences in prose, which the box counts together with those below it; dotted if the other "
    "result establishes the claim beyond the hypotheses."
)
_ARGUMENT = (
    "Green: proved steps. Blue: inferences in prose, with a thick edge for claims. Grey: hypotheses and other "
    "results. Each box rests on what its arrows lead to."
)


def evidence_graph(contents: Contents) -> Html:
    """Return the graph of all results, and the same dependencies as a list."""
    boxes = [_box(known) for known in contents.theorems]
    arrows = [arrow for known in contents.theorems for arrow in _arrows(known)]
    legend = [joined([badge(str(each)), " "]) for each in ForAll]
    title = f"What {count_text(len(boxes), 'result')} rest on"
    svg = drawn(boxes, arrows, "evidence", title, _TEXT)
    figure = tag("figure", tag("figcaption", tag("p", legend), tag("p", _TEXT)), framed(svg, title))
    said = tag("p", "Each result with those that its proof uses; its card below has the picture of its own part.")
    listed = items(map(_line, contents.theorems))
    whole = details("The graph of all results", figure)
    return tag("section", tag("h2", "What rests on what"), said, listed, whole, id="graph")


def foundations(contents: Contents, known: Known) -> Html:
    """Return the graph of one result's direct and indirect dependencies; empty text if it uses no other result."""
    found = {each.theorem.id: each for each in contents.theorems}
    reached = {known.theorem.id: known}
    for name in (open_ := [known.theorem.id]):
        below = [arrow.end for arrow in _arrows(found[name]) if arrow.end in found and arrow.end not in reached]
        reached |= {each: found[each] for each in below}
        open_ += dict.fromkeys(below)
    if len(reached) == 1:
        return Html("")
    title = f"What {known.theorem.id} rests on"
    arrows = [arrow for each in reached.values() for arrow in _arrows(each)]
    name = anchor("foundations", known.theorem.id)
    svg = drawn([_box(each) for each in reached.values()], arrows, name, title, _TEXT)
    return tag("figure", framed(svg, title), tag("figcaption", _TEXT))


def _box(known: Known) -> Box:
    established = known.standing.for_all_parameters
    said = established.text()
    name = known.theorem.id
    title = f"{name}: {known.theorem.title}; {said}"
    return Box(name, (name, said), str(established.standing), f"#{anchor('theorem', name)}", title)


def _arrows(known: Known) -> list[Arrow]:
    name, kind = known.theorem.id, "argued" if known.standing.for_all_parameters.standing is ForAll.ARGUED else ""
    uses = [Arrow(name, used, kind) for used in known.theorem.proof_uses]
    beyond = {theorem_of(used) for each in known.theorem.extensions for used in each.uses}
    also = sorted(other for other in beyond if other and other not in known.theorem.proof_uses)
    return [*uses, *(Arrow(name, other, "beyond") for other in also)]


def _line(known: Known) -> Html:
    said, uses = known.standing.for_all_parameters, known.theorem.proof_uses
    used = [joined([", " if i else " uses ", link("theorem", name)]) for i, name in enumerate(uses)]
    mark = badge(str(said.standing), said.text())
    return joined([link("theorem", known.theorem.id), " ", mark, *(used or [" uses no other result"])])


def argument(theorem: Theorem) -> Html:
    """Return a theorem's inferences in prose, as a picture and one by one."""
    parts = [
        _inferences(theorem, theorem.argument, "argument"),
        _inferences(theorem, theorem.extensions, "beyond the hypotheses"),
    ]
    if not joined(parts):
        return Html("")
    said = (
        count_text(len(theorem.argument), "inference") if theorem.argument else "Beyond the hypotheses, by inferences"
    )
    return details(f"{said} in prose", _picture(theorem), parts)


def _inferences(theorem: Theorem, inferences: tuple[Inference, ...], heading: str) -> Html:
    rows = []
    for i, inference in enumerate(inferences, 1):
        rule = inference.named_rule
        used = [joined([", " if k else "", _used(name)]) for k, name in enumerate(inference.uses)]
        ident = _inference(theorem, inference.label) if inferences is theorem.argument else None
        name = tag("span", inference.label, id=ident)
        rows.append([str(i), name, inference.says, used, f"{rule.name} ({rule.reference})"])
    return table(("no.", "label", "inference", "from", "rule"), rows, heading)


def _inference(theorem: Theorem, label: str) -> str:
    return anchor("inference", f"{theorem.id}:{label}")


def _used(name: str) -> Node:
    other = theorem_of(name)
    return link("theorem", other, name) if other else name


def _picture(theorem: Theorem) -> Html:
    """Return an argument's graph: hypotheses and proved steps on the left, claims on the right."""
    if not theorem.argument:
        return Html("")
    arrows = [Arrow(each.label, used) for each in theorem.argument for used in each.uses]
    title = f"The argument of {theorem.id}"
    svg = drawn(list(_boxes(theorem)), arrows, anchor("argument", theorem.id), title, _ARGUMENT)
    return tag("figure", framed(svg, title), tag("figcaption", _ARGUMENT))


def _boxes(theorem: Theorem) -> Iterator[Box]:
    statement = theorem.statement
    says = {clause.label: clause.text for clause in statement.clauses}
    says |= {hypothesis.label: hypothesis.statement for hypothesis in statement.hypotheses}
    claims, clauses = {claim.label for claim in statement.claims}, {clause.label for clause in statement.clauses}
    inferred = {each.label for each in theorem.argument}
    for name in dict.fromkeys(used for each in theorem.argument for used in each.uses if used not in inferred):
        other = theorem_of(name)
        kind = "other" if other else "proved" if name in clauses else "assumed"
        href = f"#{anchor('theorem', other or theorem.id)}"
        yield Box(name, (name,), kind, href, f"{name}: {says[name]}" if name in says else name)
    for each in theorem.argument:
        kind = "argued claim" if each.label in claims else "argued"
        yield Box(each.label, (each.label,), kind, f"#{_inference(theorem, each.label)}", f"{each.label}: {each.says}")
