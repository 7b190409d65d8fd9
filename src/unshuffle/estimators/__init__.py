"""scikit-learn's interface to the fits."""
