"""Go through guesses on a terminal."""

from __future__ import annotations

import typer

from kveil.policy.attributes import Role
from kveil.suggestion.roles import Guess, as_role
from kveil.words import visible

LETTERS: dict[str, Role] = {
    "i": "identifier",
    "p": "individual",
    "q": "quasi-identifier",
    "s": "sensitive",
    "n": "insensitive",
}


def ask_roles(guesses: list[Guess]) -> list[Guess]:
    """Ask for the role of every column, the guess being what Enter keeps; return the guesses as corrected."""
    typer.echo("For each column: Enter keeps the guess, or type")
    typer.echo("  i identifier (never released)         q quasi-identifier (made coarser where needed)")
    typer.echo("  p whose record it is (never released) s sensitive (released, protected)   n insensitive (released)")
    answers: list[Guess] = []
    for number, guess in enumerate(guesses, 1):
        mark = "?" if guess.doubtful else " "
        typer.echo(visible(f"{mark} {number:>3}/{len(guesses)} {guess.name}: {guess.role}, since {guess.reason}"))
        while True:
            answer = typer.prompt("       role", default="", show_default=False).strip().lower()
            role = next((role for letter, role in LETTERS.items() if answer in (letter, role)), None)
            if not answer:
                answers.append(guess)
                break
            if role == "individual" and any(other.role == "individual" for other in answers):
                typer.echo("       another column says whose record it is already; only one can.")
            elif role is not None:
                answers.append(as_role(guess, role))
                break
            else:
                typer.echo("       i, p, q, s or n, or Enter to keep the guess")
    return answers
