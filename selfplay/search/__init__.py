"""Look-ahead search, exact solvers and evaluations."""
