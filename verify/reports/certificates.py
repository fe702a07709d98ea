"""The certificates that a package ships, one for each theorem's example: `python -m verify.reports.certificates`."""

from verify.checking.certificates import write_certificate
from verify.checking.check import check
from verify.checking.loading import load_theorem
from verify.checking.registry import theorem_ids
from verify.checking.standing import shipped_path


def main() -> None:
    """Write the certificate of each installed theorem's example into the folder that its package ships."""
    for name in theorem_ids():
        theorem, path = load_theorem(name), shipped_path(name)
        path.parent.mkdir(exist_ok=True)
        write_certificate(theorem, check(theorem, theorem.example, shipped=False), path)


if __name__ == "__main__":
    main()
