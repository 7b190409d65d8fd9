"""What users ask a fitted estimator about its matches."""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from sklearn.utils.validation import check_is_fitted

from ..exceptions import UnshuffleWarning
from ..fits.repair import RepairExpectation, expect_repair
from ..fits.results import StochasticFit
from ..inference.permutations import PermutationPosterior
from ..io.frames import make_frame, plain_column
from ..kernels.types import BoolArray, FloatArray, IntArray
from ._attributes import stack_level
from ._only_normal import only_normal
from ._unmatched_answers import NOT_THERE, repair_unmatched, unmatched_of


class MatchMethods:
    """Suspects and repair, for estimators that keep a posterior over permutations."""

    _stochastic: StochasticFit
    match_proba_: FloatArray
    permutation_: IntArray

    @property
    def row_groups_(self) -> IntArray:
        """Number of the group inside which each row's label can move; -1 where it cannot."""
        problem = self._permutations().problem
        groups = np.full(problem.n_rows, -1, dtype=np.int64)
        sizes = np.diff(problem.starts)
        groups[: problem.n_movable] = np.repeat(np.arange(problem.n_blocks), sizes)
        restored = np.empty_like(groups)
        restored[problem.user_rows(np.arange(problem.n_rows))] = groups
        return restored

    @property
    def labels_given_(self) -> FloatArray:
        """Labels as they were given beside the rows."""
        problem = self._permutations().problem
        return problem.restore(problem.y)

    @property
    def fitted_values_(self) -> FloatArray:
        """Fitted value of each row, from the coefficients."""
        curve = self._stochastic.curve
        return self.aligned_around_ if curve is None else self.aligned_around_ - curve.bend

    @property
    def aligned_around_(self) -> FloatArray:
        """Value of each row near which its label is sought: the fitted one, or that of a curve."""
        posterior = self._permutations()
        return posterior.problem.restore(posterior.state.fitted)

    @only_normal
    def pair_probabilities(self, group: int = 0) -> Any:
        """Probability of each pair of a row and a label in one group.

        They are counted along the chain, which continues from where the fit ended.

        Parameters
        ----------
        group : int, default=0
            Number of the group, as in `row_groups_`.

        Returns
        -------
        rows : array of shape (m,)
            Numbers of the rows of the group.
        probabilities : sparse array of shape (m, m)
            In row i and column j the probability that row ``rows[i]`` holds the label given beside
            row ``rows[j]``.
        """
        posterior = self._permutations()
        problem = posterior.problem
        if not 0 <= group < problem.n_blocks:
            raise ValueError(
                f"group must be a number from 0 to {problem.n_blocks - 1}, got {group}; only "
                "groups in which labels can move are numbered"
            )
        first, last = (int(edge) for edge in problem.starts[group : group + 2])
        members = np.arange(first, last)
        held = posterior.partners(members)
        row = np.repeat(np.arange(last - first), [len(shares) for shares in held])
        label = np.array([label - first for shares in held for label in shares], dtype=np.int64)
        share = [value for shares in held for value in shares.values()]
        shape = (last - first, last - first)
        return problem.user_rows(members), coo_array((share, (row, label)), shape=shape)

    def _permutations(self) -> PermutationPosterior:
        posterior = self._stochastic.permutations
        if unmatched_of(self) is not None:
            raise AttributeError(NOT_THERE)
        if posterior is None:
            raise AttributeError(
                "a fit in passes, or with variant='published', keeps no posterior over permutations"
            )
        return posterior

    @only_normal
    def likely_partners(self, rows: Any, n_partners: int = 3) -> Any:
        """Other rows whose labels these rows may hold, and how probable that is.

        Parameters
        ----------
        rows : array-like of int
            Numbers of rows.
        n_partners : int, default=3
            Most partners of a row.

        Returns
        -------
        partners : array of int of shape (n_rows, n_partners)
            First the row whose label the most likely permutation, `permutation_`, gives to this
            one, if it is another; then the most probable others. -1 where there are fewer.
        probabilities : array of shape (n_rows, n_partners)
            Share of the chain in which the row held that label; nan where there is no partner.
        """
        check_is_fitted(self)
        posterior, rows = self._permutations(), np.asarray(rows, dtype=np.int64)
        problem = posterior.problem
        partners = np.full((len(rows), n_partners), -1, dtype=np.int64)
        probabilities = np.full(partners.shape, np.nan)
        arranged = problem.arranged_rows(rows)
        movable = np.flatnonzero(arranged < problem.n_movable)
        shares = posterior.partners(arranged[movable]) if len(movable) else []
        assigned = problem.arranged_rows(self.permutation_[rows])
        for k, share in zip(movable, shares, strict=True):
            others = [label for label in share if label not in (arranged[k], assigned[k])]
            first = [] if assigned[k] == arranged[k] else [int(assigned[k])]
            chosen = [*first, *others][:n_partners]
            partners[k, : len(chosen)] = problem.user_rows(np.array(chosen, dtype=np.int64))
            probabilities[k, : len(chosen)] = [share.get(label, 0.0) for label in chosen]
        return partners, probabilities

    def suspects(self, threshold: float = 0.5, *, n_partners: int = 3, id: Any = None) -> Any:
        """Rows whose label is probably not their own, or far off, and whose it may be instead.

        Parameters
        ----------
        threshold : float, default=0.5
            Rows with a lower probability of holding a label that is their own and not far off
            are listed.
        n_partners : int, default=3
            Most partners named for each row.
        id : array-like of shape (n_samples,), optional
            Names of the rows; they come as the columns `id`, `partner_1_id`, ...

        Returns
        -------
        table : data frame
            Of the library that the data of the fit came in; pandas for arrays. One line per
            suspect, the least likely match first: `row`, its `label`, `kind` ("mismatched":
            probably the label of another row; "off": the row's own, but far off, or nobody's),
            `match_proba`,
            and `partner_1`, `partner_1_proba`, ...: the rows beside which its own label may stand,
            and how probable that is (−1 and NaN where there are fewer partners).
        """
        check_is_fitted(self)
        columns = self._suspects(threshold, n_partners)
        if id is not None:
            columns = with_names(columns, check_id(id, len(self.match_proba_)))
        return make_frame(columns, getattr(self, "_library", None))

    def _suspects(self, threshold: float, n_partners: int) -> dict[str, Any]:
        """The columns of `suspects`, which need no data frame library."""
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold is a probability between 0 and 1, got {threshold}")
        if not hasattr(self, "match_proba_"):
            raise ValueError(
                "this fit has no match probabilities: no label was given beside a row "
                "(fit_unpaired), or the model is variant='published' (use variant='exact')"
            )
        off = getattr(self, "off_proba_", np.zeros(len(self.match_proba_)))
        sound = self.match_proba_ - off
        rows = np.flatnonzero(sound < threshold)
        rows = rows[np.argsort(sound[rows], kind="stable")]
        mismatched = _another_rows(self.match_proba_[rows], off[rows])
        posterior = self._permutations()
        problem = posterior.problem
        arranged = problem.arranged_rows(rows)
        shares = posterior.partners(arranged) if len(rows) and n_partners else [{}] * len(rows)
        table: dict[str, Any] = {
            "row": rows,
            "label": problem.restore(problem.y)[rows],
            "kind": np.where(mismatched, "mismatched", "off"),
            "match_proba": self.match_proba_[rows],
        }
        for k in range(n_partners):
            partners = [
                _partner(share, own, k) for share, own in zip(shares, arranged, strict=True)
            ]
            labels = np.array([label for label, _ in partners], dtype=np.int64)
            labels = np.where(mismatched, labels, -1)
            named = labels >= 0
            labels[named] = problem.user_rows(labels[named])
            table[f"partner_{k + 1}"] = labels
            share = np.array([share for _, share in partners], dtype=float)
            table[f"partner_{k + 1}_proba"] = np.where(mismatched, share, np.nan)
        return table

    @only_normal
    def repair(self, y: Any, *, id: Any = None) -> Any:
        """Put labels back in place by the most likely permutation.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Anything that stood beside the rows of the fit: the labels, or their names.
        id : array-like of shape (n_samples,), optional
            Names of the rows.

        Returns
        -------
        repaired : array of shape (n_samples,), or data frame
            ``y[permutation_]``; the input is left as it is. A row without a label
            gets NaN, or None where `y` holds no numbers. With `id`, a data frame with one line
            per row: its `id`, its `label`, and `label_from_id`, the row beside which that label
            was given.

        Warns
        -----
        UnshuffleWarning
            Where fewer labels are expected to be right after the repair than before, see
            `expect_repair`. In linked files that is the rule: coefficients are good because errors
            average out, not because the owners of the labels are known.
        """
        check_is_fitted(self)
        labels = np.asanyarray(plain_column(y))  # a mask moves with its labels
        if hasattr(self, "n_labels_"):
            return np.asarray(repair_unmatched(self, labels))
        if labels.shape != self.permutation_.shape:
            raise ValueError(
                f"y has shape {labels.shape} but the model was fitted to "
                f"{len(self.permutation_)} rows; repair takes the labels of those rows"
            )
        repaired: FloatArray = labels[self.permutation_]
        expected = self.expect_repair()
        if expected.is_worse:
            warnings.warn(str(expected), UnshuffleWarning, stacklevel=stack_level())
        if id is None:
            return repaired
        names = check_id(id, len(repaired))
        columns = {"id": names, "label": repaired, "label_from_id": names[self.permutation_]}
        return make_frame(columns, getattr(self, "_library", None))

    @only_normal
    def expect_repair(self) -> RepairExpectation:
        """How many labels are expected to be right as given, and after `repair`.

        Returns
        -------
        expected : RepairExpectation
            `before` and `after`, the expected shares of rows that hold their own label by the
            probabilities of the fit, `moved`, the rows whose label `repair` changes, and
            `is_worse`. `before` is nan after `fit_unpaired`.
        """
        check_is_fitted(self)
        matched = getattr(self, "match_proba_", None)
        return expect_repair(self._stochastic, self.permutation_, matched)


def check_id(id: Any, n_rows: int) -> Any:
    """Names of the rows as an array, one for each."""
    names = np.asarray(plain_column(id))
    if names.shape != (n_rows,):
        raise ValueError(
            f"id has shape {names.shape} but the model was fitted to {n_rows} rows; give one name "
            "per row"
        )
    return names


def with_names(columns: dict[str, Any], names: Any) -> dict[str, Any]:
    """Put the names of rows and partners beside their numbers."""
    named: dict[str, Any] = {}
    for title, values in columns.items():
        named[title] = values
        if title == "row":
            named["id"] = names[values]
        elif title.startswith("partner") and not title.endswith("proba"):
            named[f"{title}_id"] = [None if row < 0 else names[row] for row in values]
    return named


def _another_rows(match_proba: FloatArray, off: FloatArray) -> BoolArray:
    """Whether a suspect's label is probably another row's.

    A threshold above a half lists labels too that are probably right; there the likelier of the two
    doubts counts.
    """
    probably_right = match_proba - off >= 0.5
    return np.where(probably_right, 1.0 - match_proba >= off, match_proba < 0.5)


def _partner(share: dict[int, float], own: int, k: int) -> tuple[int, float]:
    others = [(label, value) for label, value in share.items() if label != own]
    return others[k] if k < len(others) else (-1, float("nan"))
