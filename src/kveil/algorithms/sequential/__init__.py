"""K-MSD and K-MSD-AG: one attribute after another."""
