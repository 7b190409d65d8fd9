"""The program that a report shows runs, and gives the same coefficients."""

import numpy as np
import pandas as pd

from unshuffle import ShuffledRegressor
from unshuffle.show.report import DataFacts
from unshuffle.show.report.code import repeating_code


def table(n=60):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"dose": rng.normal(size=n), "arm": rng.choice(["a", "b"], n)})
    data["zone"] = [f"z{i // 3}" for i in range(n)]
    return data.assign(y=2.0 * data["dose"] + (data["arm"] == "b") + 0.1 * rng.normal(size=n))


def test_the_program_repeats_the_fit(tmp_path, monkeypatch, capsys):
    data = table()
    data.to_csv(tmp_path / "t.csv", index=False)
    model = ShuffledRegressor(pairing="lost", random_state=3)
    model.fit(data[["dose", "arm"]], data["y"], groups=data["zone"])
    facts = DataFacts(
        "t.csv", 60, 20, columns=tuple(model.feature_names_in_), label="y", group="zone"
    )
    program = repeating_code(model, facts, "unshuffle fit t.csv")
    assert program.startswith("# In a shell: unshuffle fit t.csv\nimport pandas as pd\n")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(program, names)
    assert np.array_equal(names["model"].coef_, model.coef_)
    assert "Verdict" in capsys.readouterr().out


def test_data_from_no_file_are_named():
    data = table()
    model = ShuffledRegressor(pairing="lost").fit(data[["dose"]], data["y"], groups=data["zone"])
    program = repeating_code(model, DataFacts("", 60, 20, columns=("dose",)))
    assert "# X: 60 rows of 1 features; y: their labels" in program
    assert "model.fit(X, y, groups=groups)" in program
    assert "random_state was None" in program
