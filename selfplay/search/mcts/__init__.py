"""Monte-Carlo tree search: many trees in lockstep, with exchangeable rules of selection and evaluators of leaves."""
