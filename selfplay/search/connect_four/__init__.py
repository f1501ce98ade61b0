"""Exact values of Connect Four positions."""
