"""Tables of values and the update rules that learn them."""
