"""`ShuffledRegressorCV` with other families than the normal one."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..families.catalogue import FAMILIES, REGRESSIONS
from ..families.exponential import LabelFamily
from ..fits.choice import ChoiceSettings
from ..fits.glm.choice import GIVEN, FamilyChoice, choose_family
from ..fits.glm.data import GlmData
from ..fits.glm.known import fit_known
from ..fits.glm.settings import CHAIN, GlmSettings
from ._family_predict import refuse_settings
from ._family_problem import family_problem
from ._progress import reporting

NOT_COMPARED = dict.fromkeys(
    ("tempers", "ridges", "noises", "n_candidates"), "what is compared is family and start"
)


class FamilyChoiceMethods:
    """Family and start of the chain, chosen by held-out groups."""

    def _fit_dispatched(
        self,
        X: Any,
        y: Any,
        groups: Any,
        known: Any,
        match_prob: Any,
        beside: dict[str, Any],
        *,
        pairing: str | None = None,
    ) -> Self:
        model: Any = self
        model._validate_params()
        refuse_settings(model, NOT_COMPARED)
        families = _families(model.family)
        if match_prob is not None or beside.get("sample_weight") is not None:
            raise ValueError(
                f"{type(self).__name__} is for labels in lost order, without match_prob and "
                "sample_weight; use ShuffledRegressor"
            )
        settings = GlmSettings(
            model._draw_seed(), pairing="lost", fit_intercept=model.fit_intercept
        )
        found = family_problem(
            self, families[0], X, y, groups, known, None, fit_intercept=model.fit_intercept,
            **beside,
        )  # fmt: skip
        for family in families[1:]:
            family.check_labels(found.data.y)
        compared = ChoiceSettings(n_folds=model.cv, rule=model.rule)
        report = reporting(model.verbose, model.callback)
        with model._workers() as workers:
            choice = None
            if found.data.problem.n_groups < compared.fewest_groups:
                model._warn_few_groups(found.data.problem.n_groups, compared.fewest_groups)
            else:
                choice = choose_family(
                    found.data, families, compared, seed=settings.seed, workers=workers,
                    names=found.names, reporting=report,
                )  # fmt: skip
            family = families[0] if choice is None else choice.settings[choice.chosen].family
            settings = _from_start(found.data, family, choice, settings)
            model._fit_family(
                family, settings, X, y, groups, known, None, workers=workers, reporting=report,
                **beside,
            )  # fmt: skip
        _keep(model, choice)
        return self


def _families(asked: Any) -> list[LabelFamily]:
    names = [asked] if isinstance(asked, str) else list(asked)
    if not names or not set(names) <= set(REGRESSIONS):
        known = ", ".join(repr(name) for name in REGRESSIONS)
        raise ValueError(f"family must be one or more of {known}; got {asked!r}")
    return [FAMILIES[name] for name in dict.fromkeys(names)]


def _from_start(
    data: GlmData, family: LabelFamily, choice: FamilyChoice | None, settings: GlmSettings
) -> GlmSettings:
    """Settings of the fit to all groups; by default it starts from the sums of groups."""
    if choice is None or choice.settings[choice.chosen].start != GIVEN:
        return settings
    coef, _ = data.design.natural(fit_known(data, family).theta)
    return replace(settings, chain=replace(CHAIN, init=coef))


def _keep(model: Any, choice: FamilyChoice | None) -> None:
    if choice is None:
        return
    settings = choice.settings
    model.chosen_index_, model.best_index_ = choice.chosen, choice.best
    model.start_ = settings[choice.chosen].start
    model.cv_results_ = {
        "family": np.array([setting.family.name for setting in settings]),
        "start": np.array([setting.start for setting in settings]),
        "gain": choice.gains.mean(axis=1),
        "gain_by_fold": choice.gains,
        "lost": choice.lost,
        "lost_error": choice.lost_error,
    }
