"""Sentences about a proof that a player wins, or about its first mistake."""

from selfplay.grading.winning_proof.columns import FirstMistake, ProofResult

PROVED = {
    "win": "is proved to win moving {seat} against every play",
    "draw": "is proved not to lose moving {seat}, and to win where the opponent lets it",
    "loss": "moving {seat} is proved never to lose more or sooner than need be, and to take every win or draw that the "
    "opponent lets it",
}


def proof_report(result: ProofResult) -> str:
    """What was proved or refuted, and how many positions were walked, in a few lines."""
    lines = [_verdict(result), _counts(result)]
    if result.solved:
        lines.append(
            f"In {result.solved:,} further positions it plays by the exact solver itself; lines end there, because it "
            "can make no mistake (walk_solved=true walks them too)."
        )
    if result.walk == "all":
        lines.append(f"Finished matches: {result.won:,} won, {result.drawn:,} drawn, {result.lost:,} lost positions.")
    return "\n".join(lines)


def _verdict(result: ProofResult) -> str:
    name = f"{result.player}{f' after {result.after}' if result.after else ''}"
    if result.mistake is None:
        return f"{name} {PROVED[result.start].format(seat=result.seat)}."
    return f"{name} moving {result.seat} {_deed(result.mistake)}: {_mistake_text(result.mistake)}."


def _deed(mistake: FirstMistake) -> str:
    if mistake.best_value > 0:
        return "gives the win away"
    return "gives the draw away" if mistake.best_value == 0 else "loses more or sooner than need be"


def _mistake_text(mistake: FirstMistake) -> str:
    *before, action = mistake.line.split()
    where = f"after {' '.join(before)} it plays" if before else "it begins with"
    return f"{where} {action}, which {mistake.in_words}; {mistake.best} {mistake.best_in_words}"


def _counts(result: ProofResult) -> str:
    walked = f"{result.positions:,} positions were walked, and its actions judged in {result.judged:,} of them"
    if result.mistake is None:
        return f"All {walked}."
    if result.walk == "first_mistake":
        return f"No line to a mistake is shorter: {walked}."
    return (
        f"All {walked}: it gives the win away in {result.wins_given_away:,}, the draw in {result.draws_given_away:,}, "
        f"and loses more or sooner than need be in {result.losses_hastened:,}. No line to a mistake is shorter."
    )
