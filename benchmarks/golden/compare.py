"""Two records side by side: one line for each fit."""

import json
import math
from pathlib import Path


def compare(old, new, only=""):
    """Print what differs between two records; return the number of fits that differ."""
    before, after = (json.loads(Path(path).read_text()) for path in (old, new))
    if before.get("cases") != after.get("cases"):
        print("note: the cases were changed between the two records; record the older one anew")
    before, after = before["fits"], after["fits"]
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
    """How far two recorded values are apart, or both of them."""
    a, b = numbers(before), numbers(after)
    if isinstance(before, dict) and isinstance(after, dict):
        if a is None or b is None:
            return f"[{'; '.join(differences(before, after))}]"
        if before["shape"] == after["shape"] and before["type"] == after["type"]:
            return f"{relative(a, b)} in mean and norm"
    elif a is not None and b is not None and len(a) == len(b):
        return relative(a, b)
    return f"{_short(before)} is now {_short(after)}"


def relative(a, b):
    """Length of the difference over the length of the first."""
    if [math.isnan(x) for x in a] != [math.isnan(x) for x in b]:
        return "has nan in other places"
    apart = math.hypot(*(x - y for x, y in zip(a, b, strict=True) if x != y and not math.isnan(x)))
    length = math.hypot(*(x for x in a if not math.isnan(x)))
    return f"by {apart / length if length else math.inf:.1e}"


def numbers(value):
    """All numbers of a recorded value in one list; None where there is anything else."""
    if isinstance(value, dict):
        return numbers([value["mean"], value["norm"]]) if "sha256" in value else None
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
    return text if len(text) < 60 else text[:57] + "..."
