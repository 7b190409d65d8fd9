"""Fits of other families than the normal one."""
