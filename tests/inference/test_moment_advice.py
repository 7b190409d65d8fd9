"""Where a fit with mismatches is not consistent, the estimator without a law is named."""

from unshuffle.inference import order_checks
from unshuffle.inference.consistency import Consistency

NAMED = "MomentRegressor(mismatch_rate=Audit(checked, wrong))"


def test_doubts_about_the_law_of_the_noise_name_the_moment_estimator():
    found = Consistency(distance=0.5, p_value=0.001, slope=0.7, rate_difference=0.1)
    for reason in (
        order_checks.not_consistent(found),
        order_checks.consistency(0.5, 0.001),
        order_checks.doubtful_mismatches(0.01),
    ):
        assert reason.level == "caution"
        assert NAMED in reason.advice
    assert order_checks.consistency(0.01, 0.5).advice == ""
