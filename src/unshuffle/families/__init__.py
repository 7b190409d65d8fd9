"""What a label says about a row, and how coefficients follow from expected labels."""
