"""11 WHAT IS TOLD ABOUT A RELEASE: the receipt, which may be published, and the owner's file, which may not."""
