"""What a release is worth to those who analyse it: errors of counts, and of models that are trained on it."""
