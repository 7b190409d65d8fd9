"""Caution: align as if there were more noise than estimated."""

from .state import Align, Alignment, State


class TemperedAlignment:
    """The posterior of permutations raised to the power ``1 / temper²``.

    A temper above one spreads labels further, towards the mean of their group: less is learnt
    from the data, and less is made of noise that is not Gaussian.
    """

    def __init__(self, align: Align, temper: float) -> None:
        self.align = align
        self.temper = temper

    def __call__(self, state: State, iteration: int) -> Alignment:
        """Align at `temper` times the noise of `state`."""
        return self.align(state._replace(noise_scale=self.temper * state.noise_scale), iteration)
