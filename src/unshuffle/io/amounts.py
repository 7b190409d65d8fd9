"""Amounts of memory as a person reads them."""


def amount(n_bytes: float) -> str:
    """Bytes in the unit that suits them."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "bytes" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.1f} GB"
