"""What people see of a fit: summary, plots, report."""
