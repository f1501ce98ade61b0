"""Search: what is best, found by looking ahead."""
