"""Scores for other apps."""
