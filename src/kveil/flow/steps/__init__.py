"""What several uses have in common: what is asked for, what is read, made, judged and written."""
