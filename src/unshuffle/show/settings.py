"""How much is shown of a fit, with the reason beside each number."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ShowSettings:
    """Limits of tables and pictures. Together they keep a report below one megabyte."""

    # Tables of a report: more rows than anybody reads on a page; the CSV files have them all.
    most_coefficients: int = 500
    most_matches: int = 2000
    most_match_characters: int = 350_000  # long names of rows count more than their number
    most_names: int = 100

    # The review of a report. Below the first probability a label is called mismatched, from the
    # second on its own; what lies between is for people to decide.
    surely_mismatched: float = 0.05
    surely_own: float = 0.9
    most_partners: int = 3
    most_review_bytes: int = 520_000  # beside figures and tables; columns go before rows
    most_review_columns: int = 60
    most_without_script: int = 100  # rows that a browser without JavaScript shows
    most_wells: int = 4000  # of plates: forty of the common ones

    rows_before_scrolling: int = 30  # a longer table scrolls, so that it does not fill the page
    longest_cell: int = 80  # characters; names in a table stay on one line

    # Figures of a report: what can still be distinguished at `picture_width`.
    most_drawn_coefficients: int = 25
    most_panels: int = 6  # of coefficients against the rate of exchanged labels
    most_points: int = 700
    picture_width: float = 5.2  # inches: one on a phone, two beside each other on a screen
    # Beyond it the chain behind the pairs of a group would take longer than the rest of the page.
    most_paired_rows: int = 20_000

    # Heat maps: cells and lines that are still visible at the usual size of a figure.
    most_cells: int = 60
    most_groups: int = 40
    most_ticks: int = 20
    longest_tick: int = 24  # characters; longer names would take the place of the picture


SHOW = ShowSettings()
