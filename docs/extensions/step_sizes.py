"""The picture of the README: for which step sizes the conclusion of Theorem 1 is shown, open and refuted.

`python -m docs.extensions.step_sizes` draws it anew.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

import verify
from verify.checking.standing import standing

PICTURE = Path(__file__).parents[1] / "pictures" / "step_sizes.svg"
_THEOREM = "wang2024.theorem1"
_MAP = Path(__file__).parents[2] / "theorems" / "necessity" / f"{_THEOREM}.json"
_LEFT, _WIDE, _BASE = 30, 800, 92
_FROM, _TO = Fraction(1, 100), Fraction(12)


def _x(step_size: Fraction) -> float:
    """Return the place of a step size on a logarithmic axis."""
    return _LEFT + _WIDE * math.log(step_size / _FROM) / math.log(_TO / _FROM)


def ends() -> tuple[dict[str, int], Fraction, tuple[Fraction, bool, str], Fraction]:
    """Return an instance (T, q, d), and three step sizes there: Theorem 1's limit, an end, and a violation.

    The conclusion is shown up to the end. The end is a triple: the step size, whether it is excluded, and the standing
    of the theorem that shows the conclusion. The limit, the certified violation and the violation's instance are read
    from the shipped map of necessity.
    """
    hypotheses = {row["label"]: row for row in json.loads(_MAP.read_text(encoding="utf-8"))["hypotheses"]}
    row = hypotheses["step_size"]
    violated = Fraction(row["thresholds"][0]["violated"])
    limit = Fraction(row["thresholds"][0]["end"])
    instance = {name: row["witness"][name] for name in ("T", "q", "d")}
    conditions = verify.conditions(_THEOREM, **instance, eta=limit, eps=row["witness"]["eps"])
    (reach,) = [
        row for row in (line.to_json() for line in conditions.extended_ranges) if row["hypothesis"] == "step_size"
    ]
    names = reach["by"]
    assert isinstance(names, list)
    (shown_by,) = (standing(verify.load_theorem(str(name))) for name in names)
    shown = Fraction(str(reach["shown_to"])), bool(reach["shown_open"]), str(shown_by.for_all_parameters.standing)
    return instance, limit, shown, violated


def picture() -> str:
    """Return the picture as SVG."""
    instance, limit, (shown, is_open, known), violated = ends()
    at = ", ".join(f"{name} = {value}" for name, value in instance.items())
    bars = [
        (_FROM, limit, "#1b7837", "#fff", f"Theorem 1: η ≤ {limit}"),
        (limit, shown, "#7fbf7b", "#000", f"holds {'below' if is_open else 'up to'} {shown}: {known}"),
        (shown, violated, "#e8e8e8", "#000", "open"),
        (violated, _TO, "#fff", "#b2182b", ""),
    ]
    text = f"For which step sizes the conclusion of Theorem 1 of Wang et al. (2024) holds, at {at}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE + 2 * _LEFT} 142" font-family="sans-serif" '
        f'font-size="14" role="img"><title>{text}</title>',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{_LEFT}" y="30" font-size="16">{text}</text>',
    ]
    for start, end, fill, ink, label in bars:
        left, right = _x(start), _x(end)
        lines.append(f'<rect x="{left:.1f}" y="52" width="{right - left:.1f}" height="40" fill="{fill}"/>')
        lines.append(f'<text x="{(left + right) / 2:.1f}" y="77" text-anchor="middle" fill="{ink}">{label}</text>')
    at_violation = _x(violated)
    lines.append(f'<path d="M{at_violation:.1f} 46 V{_BASE}" stroke="#b2182b" stroke-width="3"/>')
    lines.append(f'<text x="{at_violation + 6:.1f}" y="70" fill="#b2182b">refuted at {violated},</text>')
    lines.append(f'<text x="{at_violation + 6:.1f}" y="87" fill="#b2182b">certified</text>')
    lines.append(f'<path d="M{_LEFT} {_BASE} H{_LEFT + _WIDE}" stroke="#000"/>')
    for tick in (limit, Fraction(1, 10), Fraction(1), shown, violated, Fraction(10)):
        place = _x(tick)
        lines.append(f'<path d="M{place:.1f} {_BASE} v6" stroke="#000"/>')
        lines.append(f'<text x="{place:.1f}" y="114" text-anchor="middle" font-size="12">{tick}</text>')
    lines.append(f'<text x="{_LEFT + _WIDE / 2}" y="134" text-anchor="middle">step size η</text></svg>')
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8")
