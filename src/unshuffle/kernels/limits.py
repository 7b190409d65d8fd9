"""Numbers that compiled and plain code share."""

# A rate of mismatches of 0 or 1 would never be left again.
SMALLEST_RATE = 1e-4
# Odds of a mismatch from which a row gets more than its share of the proposals.
SUSPICIOUS_ODDS = 0.01
