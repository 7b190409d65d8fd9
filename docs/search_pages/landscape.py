"""Two features: the residual of the best matching in every direction, where EM ends, the proof."""

import numpy as np

from unshuffle.datasets import make_shuffled_regression
from unshuffle.metrics import coefficient_error
from unshuffle.search.certify import certify, upper_bounds
from unshuffle.search.landscape import Landscape
from unshuffle.search.settings import PopulationSettings

from .sets import N_ROWS, RECOVERED, facts, make_landscape, percent, unit_set

COEF = np.array([1.2, 1.6])  # length 2
N_STARTS = 1_000
N_CONES = 64  # quadrants, halved four times


def circle(degrees):
    """Unit vectors at these angles."""
    angle = np.radians(degrees)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def degrees_of(theta):
    """Angle of a vector."""
    return float(np.degrees(np.arctan2(theta[1], theta[0])))


def residual_share(landscape, degrees):
    """What the best matching leaves unexplained in each direction."""
    return 1.0 - landscape.support(circle(degrees)) ** 2 / landscape.total


def cone_bound(landscape, degrees):
    """The lower bound that equal cones give for the residual share, at these angles."""
    edges = np.linspace(-180.0, 180.0, N_CONES + 1)
    u, heights = circle(edges), landscape.support(circle(edges))
    cone = np.clip(np.searchsorted(edges, degrees, side="right") - 1, 0, N_CONES - 1)
    p = np.array([np.linalg.solve(u[k : k + 2], heights[k : k + 2]) for k in range(N_CONES)])
    return 1.0 - (p[cone] * circle(degrees)).sum(axis=1) ** 2 / landscape.total


def n_open_cones(landscape, best):
    """Equal cones that may hold a residual share below `best`, after each round of halving."""
    counts, n = {}, 4
    while n <= N_CONES:
        edges = np.linspace(-180.0, 180.0, n + 1)
        u, heights = circle(edges), landscape.support(circle(edges))
        cones = np.stack([u[:-1], u[1:]], axis=1)
        bounds = upper_bounds(cones, np.stack([heights[:-1], heights[1:]], axis=1))
        counts[n] = int(np.sum(1.0 - bounds**2 / landscape.total < best - 1e-9))
        n *= 2
    return counts


class Counting(Landscape):
    """A landscape that counts the directions it was asked about."""

    n_asked = 0

    def support(self, thetas):
        self.n_asked += len(thetas)
        return super().support(thetas)


def follow(landscape, thetas, momentum):
    """Ends of descents, the residual share of each, and steps per start."""
    before, ends = landscape.n_steps, thetas.copy()
    explained = landscape.descend(ends, 500, momentum=momentum)
    return ends, 1.0 - explained / landscape.total, (landscape.n_steps - before) / len(ends)


def n_distinct(landscape, ends):
    """Number of optima that lie apart by more than the search's own distance."""
    kept, apart = [], PopulationSettings.distance * landscape.total**0.5
    for end in ends:
        if all(np.linalg.norm(end - k) >= apart for k in kept):
            kept.append(end)
    return len(kept)


def study():
    """Everything about two features: the curve, where EM ends, and the proof."""
    data = make_shuffled_regression(100, 2, noise=0.1, coef=COEF, random_state=0)
    landscape = make_landscape(data.X, data.y)
    degrees = np.linspace(-180.0, 180.0, 7201)
    starts = np.random.default_rng(0).normal(size=(N_STARTS, 2))
    ends, left, _ = follow(landscape, starts, 0.0)
    ols = landscape.theta_of(landscape.y)[None]
    ols_end, ols_left, _ = follow(landscape, ols, 0.0)
    counting = make_landscape(data.X, data.y, Counting)
    proof = certify(counting, ols_end[0])
    best = 1.0 - proof.theta @ proof.theta / landscape.total
    truth = degrees_of(landscape.theta_of(data.X @ data.coef))
    ordered = landscape.theta_of(data.y_ordered - data.y_ordered.mean())
    return {
        "degrees": degrees,
        "share": residual_share(landscape, degrees),
        "bound_of_cones": cone_bound(landscape, degrees),
        "ends": np.array([degrees_of(end) for end in ends]),
        "left": left,
        "n_ends": n_distinct(landscape, ends[np.argsort(left, kind="stable")]),
        "n_exact_ends": len(np.unique(left.round(9))),
        "at_best": float(np.mean(left < best + 1e-6)),
        "ols": degrees_of(ols[0]),
        "ols_end": degrees_of(ols_end[0]),
        "ols_left": float(ols_left[0]),
        "truth": truth,
        "truth_left": float(residual_share(landscape, np.array([truth]))[0]),
        "opposite_left": float(residual_share(landscape, np.array([truth + 180.0]))[0]),
        "true_order_left": float(1.0 - ordered @ ordered / landscape.total),
        "best": degrees_of(proof.theta),
        "best_left": float(best),
        "bound": proof.lower_bound / landscape.total,
        "certified": proof.certified,
        "n_asked": counting.n_asked,
        "open": n_open_cones(landscape, best),
    }


def rows(found):
    """What the text of the page says of the curve."""
    shares = {
        "highest of all directions": found["share"].max(),
        "true direction": found["truth_left"],
        "opposite direction": found["opposite_left"],
        "true order of the labels": found["true_order_left"],
        "certified optimum": found["best_left"],
        "lower bound": found["bound"],
        "where EM from OLS ends": found["ols_left"],
    }
    gap = 1 - found["bound"] / found["best_left"]
    return facts(
        [
            *((f"residual share: {name}", percent(value, 3)) for name, value in shares.items()),
            ("gap of the proof, share of the optimum", f"{gap:.1e}"),
            ("certified", found["certified"]),
            ("directions that the proof asks about", found["n_asked"]),
            *((f"cones open of {n}", still) for n, still in found["open"].items()),
            ("true direction, degrees", round(found["truth"], 1)),
            ("certified optimum, degrees", round(found["best"], 1)),
            ("OLS, degrees", round(found["ols"], 1)),
            ("EM from OLS ends at, degrees", round(found["ols_end"], 1)),
            ("random starts", N_STARTS),
            ("starts that end in the optimum", percent(found["at_best"])),
            ("ends apart by more than 0.1 lengths of the labels", found["n_ends"]),
            ("ends with distinct sums of squares", found["n_exact_ends"]),
        ]
    )


def momentum_rows():
    """Plain steps and steps with momentum from the same starts."""
    table = []
    for d in (2, 3, 5, 8):
        data = unit_set(N_ROWS, d, 0.1, 0)
        landscape = make_landscape(data.X, data.y)
        starts = np.random.default_rng(0).normal(size=(N_STARTS, d))
        row = {"features": d}
        for ending, momentum in (("", 0.0), (", momentum", PopulationSettings.momentum)):
            ends, left, steps = follow(landscape, starts, momentum)
            row[f"optima{ending}"] = n_distinct(landscape, ends[np.argsort(left, kind="stable")])
            row[f"steps{ending}"] = round(steps)
            row[f"near the truth{ending}"] = percent(share_near(landscape, ends, data), 1)
        table.append(row)
    return table


def share_near(landscape, ends, data):
    """Share of ends whose coefficients are within the limit of the true ones."""
    errors = [coefficient_error(landscape.state(end).coef, data.coef) for end in ends]
    return float(np.mean(np.array(errors) < RECOVERED))
