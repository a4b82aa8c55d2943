"""Dependencies of a table as it stands: find those that hold, test those that are declared, show where one fails."""
