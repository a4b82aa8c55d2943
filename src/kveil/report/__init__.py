"""What is told about a release: the receipt, which may be published, and the owner's file, which may not."""
