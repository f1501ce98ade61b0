"""Learned agents: a network with its game and outcome, its file, and the agents that come with the program."""
