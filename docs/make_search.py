"""Draw the pictures of two pages, and print every number they use, as markdown tables.

The pages are docs/how-the-search-works.md and docs/when-it-cannot-work.md.
Usage: python docs/make_search.py (about five minutes on one thread)
"""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression

from unshuffle import ShuffledRegressor
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import ShuffledData, load_boston, make_shuffled_regression
from unshuffle.datasets.simulated import cut_by_rank, shuffle_inside
from unshuffle.families.least_squares import LeastSquares
from unshuffle.metrics import coefficient_cosine, coefficient_error
from unshuffle.search.certify import certify, upper_bounds
from unshuffle.search.landscape import Landscape
from unshuffle.search.population import automatic_budget
from unshuffle.search.settings import PopulationSettings

PICTURES = Path(__file__).with_name("pictures")
COEF = np.array([1.2, 1.6])  # length 2
N_STARTS = 1_000
N_CONES = 64  # quadrants, halved four times

N_SETS = 5
RECOVERED = 0.1  # relative error of the coefficients
N_ROWS = 200
FEATURES = (1, 2, 3, 5, 8, 12)
NOISES = (0.02, 0.05, 0.1, 0.2, 0.5)
FEW_CANDIDATES = 20_000  # where there are more than MANY_FEATURES features
MANY_FEATURES = 5
GROUPS = (1, 4, 12, 40, 120)
ROWS = (50, 200, 800, 3200)
KNOWN_ROWS = (20, 40)

BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"  # Okabe and Ito


# The landscape -----------------------------------------------------------------------------------


def make_landscape(X, y, kind=Landscape):
    """Rows and labels in one group, on one thread."""
    codes, known = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=bool)
    solver = LeastSquares(X, fit_intercept=True)
    return kind(make_problem(X, y, codes, known), solver, Workers(1))


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
    kept = []
    for end in ends:
        apart = PopulationSettings.distance * landscape.total**0.5
        if all(np.linalg.norm(end - k) >= apart for k in kept):
            kept.append(end)
    return len(kept)


def study_circle():
    """Everything about two features: the curve, where EM ends, and the proof."""
    data = make_shuffled_regression(100, 2, noise=0.1, coef=COEF, random_state=0)
    landscape = make_landscape(data.X, data.y)
    degrees = np.linspace(-180.0, 180.0, 7201)
    share = residual_share(landscape, degrees)
    starts = np.random.default_rng(0).normal(size=(N_STARTS, 2))
    ends, left, _ = follow(landscape, starts, 0.0)
    best_first = np.argsort(left, kind="stable")
    ols = landscape.theta_of(landscape.y)[None]
    ols_end, ols_left, _ = follow(landscape, ols, 0.0)
    counting = make_landscape(data.X, data.y, Counting)
    proof = certify(counting, ols_end[0])
    best = 1.0 - proof.theta @ proof.theta / landscape.total
    truth = landscape.theta_of(data.X @ data.coef)
    truth_degrees = degrees_of(truth)
    ordered = landscape.theta_of(data.y_ordered - data.y_ordered.mean())
    return {
        "degrees": degrees,
        "share": share,
        "bound_of_cones": cone_bound(landscape, degrees),
        "ends": np.array([degrees_of(end) for end in ends]),
        "left": left,
        "n_ends": n_distinct(landscape, ends[best_first]),
        "n_exact_ends": len(np.unique(left.round(9))),
        "at_best": float(np.mean(left < best + 1e-6)),
        "ols": degrees_of(ols[0]),
        "ols_end": degrees_of(ols_end[0]),
        "ols_left": float(ols_left[0]),
        "truth": truth_degrees,
        "truth_left": float(residual_share(landscape, np.array([truth_degrees]))[0]),
        "opposite_left": float(residual_share(landscape, np.array([truth_degrees + 180.0]))[0]),
        "true_order_left": float(1.0 - ordered @ ordered / landscape.total),
        "best": degrees_of(proof.theta),
        "best_left": float(best),
        "bound": proof.lower_bound / landscape.total,
        "certified": proof.certified,
        "n_asked": counting.n_asked,
        "open": n_open_cones(landscape, best),
    }


def draw_landscape(found):
    figure = Figure(figsize=(8.0, 4.2), layout="constrained")
    axis = figure.subplots()
    percent = 100.0
    axis.plot(
        found["degrees"], percent * found["bound_of_cones"], color="0.55", lw=0.9,
        label=f"lower bound from {N_CONES} cones",
    )  # fmt: skip
    axis.plot(
        found["degrees"], percent * found["share"], color=BLUE, lw=1.6,
        label="residual share of the best matching",
    )  # fmt: skip
    axis.plot(
        found["ends"], percent * found["left"], "o", color=ORANGE, mec="black", mew=0.6, ms=5,
        ls="none", label=f"where hard EM ends ({N_STARTS:,} starts)",
    )  # fmt: skip
    axis.axhline(
        percent * found["bound"], color="black", lw=0.9, ls=":", label="lower bound, proved"
    )
    axis.axvline(found["truth"], color="black", lw=0.9, label="true direction")
    axis.plot(
        found["best"], percent * found["best_left"], "*", color=GREEN, mec="black", mew=0.8, ms=16,
        ls="none", label="certified optimum", zorder=5,
    )  # fmt: skip
    axis.annotate(
        "EM from least squares\non the labels as given",
        (found["ols_end"], percent * found["ols_left"]), xytext=(12, 0.95), fontsize=9,
        arrowprops={"arrowstyle": "->", "lw": 0.8, "shrinkB": 4},
    )  # fmt: skip
    axis.set(
        xlabel="angle of θ, degrees", ylabel="residual share, % of ‖y‖²",
        xlim=(-180, 180), ylim=(-0.15, 5.8), xticks=range(-180, 181, 45),
    )  # fmt: skip
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.savefig(PICTURES / "landscape.png", dpi=150)


def circle_rows(found):
    percent = {
        "residual share: highest of all directions": found["share"].max(),
        "residual share: true direction": found["truth_left"],
        "residual share: opposite direction": found["opposite_left"],
        "residual share: true order of the labels": found["true_order_left"],
        "residual share: certified optimum": found["best_left"],
        "residual share: lower bound": found["bound"],
        "residual share: where EM from OLS ends": found["ols_left"],
    }
    return [
        *((name, f"{100 * value:.3f} %") for name, value in percent.items()),
        (
            "gap of the proof, share of the optimum",
            f"{1 - found['bound'] / found['best_left']:.1e}",
        ),
        ("certified", str(found["certified"])),
        ("directions that the proof asks about", str(found["n_asked"])),
        *((f"cones open of {n}", str(still)) for n, still in found["open"].items()),
        ("true direction, degrees", f"{found['truth']:.1f}"),
        ("certified optimum, degrees", f"{found['best']:.1f}"),
        ("OLS, degrees", f"{found['ols']:.1f}"),
        ("EM from OLS ends at, degrees", f"{found['ols_end']:.1f}"),
        ("random starts", f"{N_STARTS:,}"),
        ("starts that end in the optimum", f"{100 * found['at_best']:.0f} %"),
        ("ends apart by more than 0.1 lengths of the labels", str(found["n_ends"])),
        ("ends with distinct sums of squares", str(found["n_exact_ends"])),
    ]


def study_momentum():
    """Plain steps and steps with momentum from the same starts."""
    rows = []
    for d in (2, 3, 5, 8):
        data = unit_set(N_ROWS, d, 0.1, 0)
        landscape = make_landscape(data.X, data.y)
        starts = np.random.default_rng(0).normal(size=(N_STARTS, d))
        row = []
        for momentum in (0.0, PopulationSettings.momentum):
            ends, left, steps = follow(landscape, starts, momentum)
            apart = n_distinct(landscape, ends[np.argsort(left, kind="stable")])
            near = coefficient_near(landscape, ends, data)
            row += [apart, f"{steps:.0f}", f"{100 * near:.1f} %"]
        rows.append((d, *row))
    return rows


def coefficient_near(landscape, ends, data):
    """Share of ends whose coefficients are within the limit of the true ones."""
    errors = [coefficient_error(landscape.state(end).coef, data.coef) for end in ends]
    return float(np.mean(np.array(errors) < RECOVERED))


# From hard to soft -------------------------------------------------------------------------------


def fit(data, seed, known=None, **settings):
    model = ShuffledRegressor(random_state=seed, n_jobs=1, pairing="lost", **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data.X, data.y, groups=data.groups, known=known)


def fit_rows():
    """One fit that follows its match, and the same rows with unrelated labels."""
    data = make_shuffled_regression(100, 2, noise=0.1, coef=COEF, random_state=0)
    model = fit(data, 0)
    hard = coefficient_error(model.solutions_[0], data.coef)
    rows = fit_facts("d = 2", model)
    rows += [
        ("d = 2: error of solutions_[0]", f"{hard:.4f}"),
        ("d = 2: error of coef_", f"{coefficient_error(model.coef_, data.coef):.4f}"),
        ("d = 2: noise_scale_", f"{model.noise_scale_:.3f}"),
    ]
    order = np.random.default_rng(0).permutation(len(data.y))
    apart = ShuffledRegressor(random_state=0, n_jobs=1).fit_unpaired(data.X, data.y[order])
    rows.append(("fit_unpaired: error", f"{coefficient_error(apart.coef_, data.coef):.4f}"))
    unrelated = 2.0 * np.random.default_rng(1).normal(size=len(data.y))
    model = fit(replace(data, y=unrelated), 0)
    rows += fit_facts("unrelated labels", model)
    rows.append(("unrelated labels: length of coef_", f"{np.linalg.norm(model.coef_):.3f}"))
    length = np.linalg.norm(model.solutions_[0])
    rows.append(("unrelated labels: length of solutions_[0]", f"{length:.2f}"))
    return rows


def fit_facts(name, model):
    nulls = model.null_scores_
    return [
        (f"{name}: candidates tried", f"{model.n_candidates_:,}"),
        (f"{name}: stopped by", model.stopped_by_),
        (f"{name}: certified_", str(model.certified_)),
        (f"{name}: solution_objectives_[0]", f"{model.solution_objectives_[0]:.3f}"),
        (f"{name}: objective_", f"{model.objective_:.3f}"),
        (f"{name}: match_score_", f"{model.match_score_:.2f}"),
        (f"{name}: null scores, lowest to highest", f"{nulls.min():.2f} to {nulls.max():.2f}"),
        (f"{name}: number of nulls", str(len(nulls))),
        (f"{name}: null_pvalue_", f"{model.null_pvalue_:.1g}"),
        (f"{name}: temper_", f"{model.temper_:.1f}"),
        (f"{name}: ridge_", f"{model.ridge_:.2f}"),
    ]


# Recovery ----------------------------------------------------------------------------------------


def unit_set(n, d, noise, seed, **settings):
    """A simulated set whose coefficients have length 1 and a random direction."""
    coef = np.random.RandomState([d, seed]).normal(size=d)
    coef /= np.linalg.norm(coef)
    return make_shuffled_regression(n, d, noise=noise, coef=coef, random_state=seed, **settings)


def try_set(data, seed, **settings):
    """Fit one set; what became of it."""
    model = fit(data, seed, **settings)
    best = model.solutions_[0]
    freedom = len(data.y) - data.X.shape[1] - 1
    return {
        "noise": model.noise_scale_,
        "best_objective": float(model.solution_objectives_[0]),
        "best_noise": float(np.sqrt(model.solution_objectives_[0] / freedom)),
        "error": coefficient_error(model.coef_, data.coef),
        "p": model.null_pvalue_,
        "cautious": model.temper_ > 1.0,
        "best_error": coefficient_error(best, data.coef),
        "best_cosine": coefficient_cosine(best, data.coef),
        "certified": model.certified_,
    }


def share_recovered(fits):
    return float(np.mean([f["error"] < RECOVERED for f in fits]))


def budget(d):
    return FEW_CANDIDATES if d > MANY_FEATURES else "auto"


def budget_rows():
    """What "auto" would try where the map is made with fewer candidates."""
    rows = []
    for d in FEATURES:
        data = unit_set(N_ROWS, d, NOISES[0], 0)
        automatic = automatic_budget(make_landscape(data.X, data.y))
        used = automatic if budget(d) == "auto" else budget(d)
        rows.append((d, f"{automatic:,}", f"{used:,}"))
    return rows


def study_map():
    return {
        (d, noise): [try_on_map(d, noise, seed) for seed in range(N_SETS)]
        for d in FEATURES
        for noise in NOISES
    }


def try_on_map(d, noise, seed):
    data = unit_set(N_ROWS, d, noise, seed)
    found = try_set(data, seed, n_candidates=budget(d))
    return found | {"missed": lies_below(data, found["best_objective"])}


def lies_below(data, objective):
    """Whether hard EM from the true coefficients ends clearly below what the search found."""
    landscape = make_landscape(data.X, data.y)
    truth = landscape.theta_of(data.X @ data.coef)[None]
    explained = landscape.descend(truth, 500)
    return bool(landscape.total - explained[0] < 0.98 * objective)


def study_groups():
    settings = {"shuffle": "groups", "group_by": "random"}
    return {
        k: [
            try_set(unit_set(480, 5, 0.5, seed, n_groups=k, **settings), seed)
            for seed in range(N_SETS)
        ]
        for k in GROUPS
    }


def study_rows():
    return {n: [try_set(unit_set(n, 3, 0.2, seed), seed) for seed in range(N_SETS)] for n in ROWS}


def study_full_budget():
    """Eight features and little noise with the automatic budget, which the map does not use."""
    return {
        noise: [try_set(unit_set(N_ROWS, 8, noise, seed), seed) for seed in range(N_SETS)]
        for noise in NOISES[:2]
    }


def study_known():
    """Twelve features, noise 0.2, and the right labels of a few rows; OLS on those rows beside."""
    found = {}
    for n_known in KNOWN_ROWS:
        fits = []
        for seed in range(N_SETS):
            data = unit_set(N_ROWS, 12, 0.2, seed)
            known = np.arange(N_ROWS) < n_known
            y = data.y_ordered.copy()
            y[~known] = np.random.RandomState(seed).permutation(y[~known])
            fits.append(try_set(replace(data, y=y), seed, known=known))
            alone = LinearRegression().fit(data.X[known], y[known]) if n_known > 13 else None
            fits[-1]["alone"] = coefficient_error(alone.coef_, data.coef) if alone else np.nan
        found[n_known] = fits
    return found


def study_sign():
    """One feature: how often sorting beats reverse sorting where the slope is positive."""
    found = {}
    rng = np.random.default_rng(0)
    for name, draw in (("normal", rng.normal), ("exponential", rng.exponential)):
        for noise in NOISES:
            x = draw(size=(1_000, N_ROWS))
            y = np.sort(x + noise * rng.normal(size=x.shape), axis=1)
            y -= y.mean(axis=1, keepdims=True)
            x = np.sort(x, axis=1)
            up, down = (x * y).sum(axis=1), -(x[:, ::-1] * y).sum(axis=1)
            slope = up / ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
            found[name, noise] = float(np.mean(up > down)), float(slope.mean())
    return found


def study_boston():
    """LSTAT in four zones of MEDV: test error of doing nothing, of caution, of the best match."""
    boston = load_boston()
    X, y = boston.without("LSTAT"), boston.column("LSTAT")
    y = (y - y.min()) / np.ptp(y)
    errors = []
    for seed in range(N_SETS):
        rows = np.random.RandomState(seed).permutation(len(y))
        train, test = rows[len(y) // 5 :], rows[: len(y) // 5]
        zones = cut_by_rank(boston.column("MEDV")[train], 4)
        labels = y[train][shuffle_inside(np.random.RandomState(seed), zones)]
        data = ShuffledData(X[train], labels, zones, np.zeros(0), 0.0, np.zeros(0), y[train])
        model = fit(data, seed, n_candidates=FEW_CANDIDATES)
        follow_it = fit(data, seed, n_candidates=FEW_CANDIDATES, search="population")
        models = {
            "OLS, labels as given": LinearRegression().fit(X[train], labels),
            "ShuffledRegressor": model,
            "the same, search='population'": follow_it,
            "OLS, known order": LinearRegression().fit(X[train], y[train]),
        }
        row = {name: rmse(m.predict(X[test]), y[test]) for name, m in models.items()}
        row["mean label"] = rmse(labels.mean(), y[test])
        row["cautious"] = model.temper_ > 1.0
        row["p"] = model.null_pvalue_
        errors.append(row)
    return errors


def rmse(predicted, y):
    return float(np.sqrt(np.mean((predicted - y) ** 2)))


def draw_recovery(by_set, by_groups):
    figure = Figure(figsize=(8.0, 4.0), layout="constrained")
    figure.get_layout_engine().set(wspace=0.08)
    left, right = figure.subplots(1, 2, width_ratios=(6, 1.9))
    shares = [[share_recovered(by_set[d, noise]) for d in FEATURES] for noise in NOISES]
    heat_map(left, np.array(shares))
    left.set_title(f"sets recovered, one group of {N_ROWS} rows", fontsize=10)
    left.set(
        xlabel="number of features",
        ylabel="noise, per length of the coefficients",
    )  # fmt: skip
    left.set_xticks(range(len(FEATURES)), FEATURES)
    left.set_yticks(range(len(NOISES)), NOISES)
    heat_map(right, np.array([[share_recovered(by_groups[k])] for k in GROUPS]))
    right.set_title("480 rows, 5 features,\nnoise 0.5", fontsize=10)
    right.set_ylabel("number of random groups")
    right.set_xticks([])
    right.set_yticks(range(len(GROUPS)), GROUPS)
    figure.savefig(PICTURES / "recovery.png", dpi=150)


def heat_map(axis, shares):
    """Shares as colours and as numbers, in percent."""
    axis.imshow(shares, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
    for (i, j), share in np.ndenumerate(shares):
        ink = "black" if share > 0.5 else "white"
        axis.text(j, i, f"{100 * share:.0f} %", ha="center", va="center", color=ink)
    axis.set_xticks(np.arange(1, shares.shape[1]) - 0.5, minor=True)
    axis.set_yticks(np.arange(1, shares.shape[0]) - 0.5, minor=True)
    axis.grid(which="minor", color="white", lw=1.5)
    axis.tick_params(which="both", length=0)
    axis.spines[:].set_visible(False)


# What is printed ---------------------------------------------------------------------------------


def print_table(title, head, rows):
    print(f"\n## {title}\n")
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(map(str, row)) + " |")


def print_facts(title, rows):
    print_table(title, ("what", "number"), rows)


def mean_of(fits, name):
    return f"{np.mean([f[name] for f in fits]):.2f}"


def median_of(fits, name):
    return f"{np.median([f[name] for f in fits]):.2f}"


def print_map(by_set):
    rows = [
        (noise, *(f"{100 * share_recovered(by_set[d, noise]):.0f} %" for d in FEATURES))
        for noise in NOISES
    ]
    print_table("Recovered, by noise and features", ("noise", *FEATURES), rows)


def honesty_rows(fits):
    """How often the fit itself says that it does not know."""
    good = [f for f in fits if f["error"] < RECOVERED]
    bad = [f for f in fits if f["error"] >= RECOVERED]
    cautious = [f for f in bad if f["cautious"]]
    followed = [f for f in bad if not f["cautious"]]
    wrong = [f for f in followed if f["error"] >= 0.5]
    return [
        ("sets", len(fits)),
        ("recovered", len(good)),
        ("recovered: null_pvalue_ below .05", sum(f["p"] < 0.05 for f in good)),
        ("not recovered", len(bad)),
        ("not recovered: null_pvalue_ of .05 or more", sum(f["p"] >= 0.05 for f in bad)),
        ("not recovered: cautious", len(cautious)),
        ("cautious: mean error of coef_", mean_of(cautious, "error")),
        ("cautious: mean error of solutions_[0]", mean_of(cautious, "best_error")),
        ("cautious: solutions_[0] worse than zero", sum(f["best_error"] > 1 for f in cautious)),
        ("cautious: solutions_[0] right", sum(f["best_error"] < RECOVERED for f in cautious)),
        ("not recovered: followed", len(followed)),
        ("followed: error below .5", len(followed) - len(wrong)),
        ("followed: their largest error", near_miss(followed)),
        ("followed: error of .5 or more", len(wrong)),
        ("wrong: mean error", mean_of(wrong, "error")),
        ("wrong: opposite sign, cosine below -.9", sum(f["best_cosine"] < -0.9 for f in wrong)),
        ("not recovered: solutions_[0] opposite", sum(f["best_cosine"] < -0.9 for f in bad)),
        ("certified among the not recovered", sum(f["certified"] for f in bad)),
    ]


def reason(f):
    """Why a set was not recovered."""
    if f["missed"]:
        return "search"
    if f["best_error"] < RECOVERED:
        return "doubt"
    return "data"


def reason_rows(by_set):
    """Sets not recovered in each cell: the search missed, a right match was doubted, the data."""
    rows = []
    for noise in NOISES:
        cells = []
        for d in FEATURES:
            bad = [reason(f) for f in by_set[d, noise] if f["error"] >= RECOVERED]
            counts = {name: bad.count(name) for name in ("search", "doubt", "data")}
            cells.append(", ".join(f"{name} {k}" for name, k in counts.items() if k) or "-")
        rows.append((noise, *cells))
    bad = [reason(f) for fits in by_set.values() for f in fits if f["error"] >= RECOVERED]
    totals = [f"{name} {bad.count(name)}" for name in ("search", "doubt", "data")]
    return [*rows, ("all", *totals, *[""] * (len(FEATURES) - 3))]


def near_miss(followed):
    return f"{max(f['error'] for f in followed if f['error'] < 0.5):.2f}"


def group_rows(by_groups):
    return [
        (
            k, f"{100 * share_recovered(fits):.0f} %", mean_of(fits, "error"),
            mean_of(fits, "best_error"), mean_of(fits, "noise"), mean_of(fits, "best_noise"),
            sum(f["cautious"] for f in fits),
        )
        for k, fits in by_groups.items()
    ]  # fmt: skip


def size_rows(found):
    return [
        (
            key, f"{100 * share_recovered(fits):.0f} %", median_of(fits, "best_error"),
            sum(f["cautious"] for f in fits),
            sum(not f["cautious"] and f["error"] >= 0.5 for f in fits),
        )
        for key, fits in found.items()
    ]  # fmt: skip


def known_rows(found):
    return [
        (
            k, mean_of(fits, "error"), mean_of(fits, "best_error"), mean_of(fits, "alone"),
            sum(f["cautious"] for f in fits),
        )
        for k, fits in found.items()
    ]  # fmt: skip


def sign_rows(found):
    return [
        (name, noise, f"{100 * right:.0f} %", f"{slope:.2f}")
        for (name, noise), (right, slope) in found.items()
    ]


def boston_rows(errors):
    names = [name for name in errors[0] if name not in {"p", "cautious"}]
    rows = [(name, f"{np.mean([e[name] for e in errors]):.3f}") for name in names]
    p_values = [e["p"] for e in errors]
    return [
        *rows,
        ("cautious, of 5", sum(e["cautious"] for e in errors)),
        ("null_pvalue_, lowest to highest", f"{min(p_values):.2f} to {max(p_values):.2f}"),
    ]


def print_search_page():
    found = study_circle()
    draw_landscape(found)
    print_facts("Two features, 100 rows", circle_rows(found))
    columns = ("optima", "steps", "near the truth")
    head = ("features", *columns, *(f"{name}, momentum" for name in columns))
    print_table(f"{N_STARTS:,} random starts, 200 rows, noise .1", head, study_momentum())
    print_facts("Fits", fit_rows())


def print_limits_page():
    by_set, by_groups = study_map(), study_groups()
    draw_recovery(by_set, by_groups)
    print_map(by_set)
    print_table("Candidates, at most", ("features", "auto", "on the map"), budget_rows())
    print_table("Why sets were not recovered", ("noise", *FEATURES), reason_rows(by_set))
    all_fits = [f for fits in by_set.values() for f in fits]
    print_facts("What the fits say of themselves", honesty_rows(all_fits))
    head = ("groups", "recovered", "error", "of solutions_[0]", "noise", "of it", "cautious of 5")
    print_table("480 rows, 5 features, noise .5", head, group_rows(by_groups))
    head = ("recovered", "median error of solutions_[0]", "cautious of 5", "followed, error >= .5")
    print_table("3 features, noise .2", ("rows", *head), size_rows(study_rows()))
    budgets = {f"{noise}, 20,000": by_set[8, noise] for noise in NOISES[:2]}
    budgets |= {f"{noise}, auto": fits for noise, fits in study_full_budget().items()}
    print_table("8 features", ("noise and budget", *head), size_rows(budgets))
    head = ("known rows", "error", "of solutions_[0]", "of OLS on them alone", "cautious of 5")
    print_table("200 rows, 12 features, noise .2", head, known_rows(study_known()))
    head = ("feature", "noise", "right sign", "slope when sorted")
    print_table("One feature, 200 rows, 1,000 sets", head, sign_rows(study_sign()))
    print_facts("Boston, LSTAT in 4 zones of MEDV: test error", boston_rows(study_boston()))


def main():
    PICTURES.mkdir(exist_ok=True)
    print_search_page()
    print_limits_page()


if __name__ == "__main__":
    main()
