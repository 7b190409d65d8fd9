"""Fits as functions: data and settings in, a frozen result out."""
