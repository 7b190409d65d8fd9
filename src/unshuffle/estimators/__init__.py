"""Estimators: the only room that knows what a scikit-learn estimator is."""
