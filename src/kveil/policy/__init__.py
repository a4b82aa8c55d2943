"""1 WHAT MUST HOLD: the policy as pure data, read from YAML or built from these classes."""
