"""A proved lower bound on the loss of any release of a policy."""
