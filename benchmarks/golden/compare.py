"""Two records side by side: one line for each fit."""

import json
import math
from pathlib import Path


def compare(old, new, only=""):
    """Print what differs between two records; return the number of fits that differ."""
    before, after = (json.loads(Path(path).read_text())["fits"] for path in (old, new))
    names = [name for name in before | after if only in name]
    n_different = 0
    for name in names:
        if name not in before or name not in after:
            said = f"only in {old if name in before else new}"
        else:
            found = list(differences(before[name], after[name]))
            said = "; ".join(found)
        n_different += bool(said)
        failed = before.get(name, {}).get("error")
        same = f"identical (both raise {failed})" if failed else "identical"
        print(f"{name}: {said or same}")
    print(f"{len(names) - n_different} of {len(names)} fits are identical")
    return n_different


def differences(before, after):
    """The fields that differ, each with the size of the difference."""
    for field in before | after:
        if field not in before or field not in after:
            yield f"{field} is {'gone' if field in before else 'new'}"
        elif before[field] != after[field]:
            yield f"{field} {size(before[field], after[field])}"


def size(before, after):
    """Relative difference of numbers, otherwise both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        if "sha256" not in before or "sha256" not in after:
            return f"[{'; '.join(differences(before, after))}]"
        for part in ("shape", "type"):
            if before[part] != after[part]:
                return f"{part} {before[part]} is now {after[part]}"
    a, b = numbers(before), numbers(after)
    if a is None or b is None or len(a) != len(b):
        return f"{_short(before)} is now {_short(after)}"
    if [math.isnan(x) for x in a] != [math.isnan(x) for x in b]:
        return "nan in other places"
    apart = math.hypot(*(x - y for x, y in zip(a, b, strict=True) if not math.isnan(x)))
    length = math.hypot(*(x for x in a if not math.isnan(x)))
    if isinstance(before, dict) and apart == 0.0:
        return "differs, with the same mean and norm"
    of = " (mean and norm)" if isinstance(before, dict) else ""
    return f"by {apart / length if length else math.inf:.1e}{of}"


def numbers(value):
    """All numbers of a recorded value in one list; None where there is anything else."""
    if isinstance(value, dict):
        return numbers([value["mean"], value["norm"]])
    if isinstance(value, list):
        parts = [numbers(item) for item in value]
        return None if None in parts else [number for part in parts for number in part]
    if isinstance(value, str):
        try:
            return [float.fromhex(value)]
        except ValueError:
            return None
    return None if value is None or isinstance(value, bool) else [float(value)]


def _short(value):
    text = json.dumps(value)
    return text if len(text) < 80 else text[:77] + "..."
