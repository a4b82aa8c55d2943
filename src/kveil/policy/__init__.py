"""What must hold: the policy as pure data, read from YAML or built from these classes."""
