"""The studio: everything a steward does, in the browser, on this machine alone.

`server` runs it. The server never loads a table: `reader` is the process that holds it and answers questions about
it, and every run is the command line as a child process (`kveil.cli.child`). The policy's text is the one truth
(`project`); `edit` changes the few characters a click is about.
"""
