"""The names of Othello openings on 8x8 squares.

From Robert Gatliff's public catalogue (http://samsoft.org.uk/reversi/openings.htm), with the first move on c4.
"""

from collections.abc import Sequence

OPENINGS = {
    "c4c3": "Diagonal",
    "c4c3d3c5b3": "Snake",
    "c4c3d3c5b4": "Heath",
    "c4c3d3c5b4d2d6": "Heath-Bat",
    "c4c3d3c5b4d2e2": "Iwasaki",
    "c4c3d3c5b4e3": "Heath-Chimney",
    "c4c3d3c5b5": "Raccoon Dog",
    "c4c3d3c5b6": "Rocket",
    "c4c3d3c5b6e3": "Lollipop",
    "c4c3d3c5d6": "Cow",
    "c4c3d3c5d6e3": "Chimney",
    "c4c3d3c5d6f4b4": "Bat",
    "c4c3d3c5d6f4f5": "Rose-v-Toth",
    "c4c3d3c5d6f4f5d2": "Tanida",
    "c4c3d3c5d6f4f5d2b5": "Aircraft",
    "c4c3d3c5d6f4f5d2g4d7": "Sailboat",
    "c4c3d3c5d6f4f5e6c6d7": "Maruoka",
    "c4c3d3c5d6f4f5e6f6": "Landau",
    "c4c3d3c5f6": "Buffalo",
    "c4c3e6c5": "Wing",
    "c4c3f5c5": "Semi-Wing",
    "c4c5": "Parallel",
    "c4e3": "Perpendicular",
    "c4e3f4c5d6e6": "Mimura",
    "c4e3f4c5d6f3c6": "Shaman",
    "c4e3f4c5d6f3d3": "Inoue",
    "c4e3f4c5d6f3d3c3": "Iago",
    "c4e3f4c5d6f3e6c3d3e2": "Rose",
    "c4e3f6e6f5": "Tiger",
}


def opening_name(squares: Sequence[int]) -> str | None:
    """The name of the longest opening with which a match begins; None if it has none.

    Args:
        squares: those of the first moves, numbered from the top left in rows of eight.
    """
    places = [divmod(square, 8) for square in squares[: max(map(len, OPENINGS)) // 2]]
    images = [places, [place[::-1] for place in places], [(7 - row, 7 - column) for row, column in places]]
    images.append([place[::-1] for place in images[2]])
    texts = ["".join(f"{'abcdefgh'[column]}{row + 1}" for row, column in image) for image in images]
    found = [opening for opening in OPENINGS for text in texts if text.startswith(opening)]
    return OPENINGS[max(found, key=len)] if found else None
