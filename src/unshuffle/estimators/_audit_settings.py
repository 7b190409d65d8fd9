"""The numbers of an audit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AuditSettings:
    """The numbers of an audit."""

    # Where the attacker's confidence is cut into bands.
    edges: tuple[float, ...] = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
    # Rows followed in a round: the posterior draws of each are kept.
    most_rows: int = 2000
    # By this much more than what it finds may the attacker's mean confidence be.
    overconfident: float = 0.2
    # Default tolerance, in standard deviations of the labels.
    tolerance: float = 0.1
    # Standard errors by which an attack must exceed guessing to be called better.
    errors_above_guessing: float = 3.0
    # From this confidence on an attacker acts on a label that it names; a row whose label is named
    # so, and rightly, is exposed.
    confident: float = 0.75
    # A label that this share of all rows has (within tolerance) exposes nobody: it is the best
    # guess without any attack.
    common: float = 0.5
    # Share of exposed rows, and of rows that the shuffle does not hide, from which a release is at
    # risk, and unsafe. By how much an attack may exceed guessing before it is unsafe.
    at_risk: float = 0.01
    unsafe: float = 0.1
    unsafe_gain: float = 0.25
    # Categories of a secret: the attack fits each of them.
    most_categories: int = 20


AUDIT = AuditSettings()
