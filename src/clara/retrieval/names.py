"""Names of passages: how they are compared, and which ones a question could be saying."""

from collections.abc import Iterator

from clara.language.fold import caseless, spaced

# Shorter names are initials that stand everywhere.
SHORTEST_NAME = 3
# Characters of the longest name that is followed: MediaWiki's limit for a title. What is longer is a text, not a name.
MOST_CHARACTERS = 255
# Words in the longest name looked up in a question; of 15,825 titles of an encyclopedia .2 % are longer.
LONGEST_NAME = 8
# A question has at most this many words looked at: the others cannot be about more names than a person asks about at once.
MOST_WORDS = 64
# What may stand around a name in a question without being part of it.
PUNCTUATION = ".,;:!?¿¡()[]\"'«»“”‘’؟،؛。、"


def normalised(name: str) -> str:
    """Fold a name for comparison: Unicode's compatibility form, case and runs of blanks."""
    return caseless(spaced(name))


def says(written: str, name: str) -> bool:
    """Whether `written` says `name`, both normalised alike: one word alone must also agree in its capital letters.

    So "her" does not say the film "Her", while "los ángeles" says "Los Ángeles".
    """
    wanted = spaced(name)
    return " " in wanted or written == wanted


def spoken(question: str) -> list[str]:
    """Give every run of words of a question that could be a name, normalised, without repetitions.

    A single word counts only when it is written with a capital, or in a script that has none: names of one word are common
    words too. A number alone does not count: years are said more often than what is called by one.
    """
    return list(dict.fromkeys(_runs(spaced(question).split()[:MOST_WORDS])))


def _runs(words: list[str]) -> Iterator[str]:
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_NAME, len(words)) + 1):
            run = " ".join(words[start:end])
            if len(run) > MOST_CHARACTERS:
                break
            for said in dict.fromkeys([run, run.strip(PUNCTUATION), _possessor(run)]):
                folded = normalised(said)
                if len(folded) >= SHORTEST_NAME and (end - start > 1 or _stands_alone(said)):
                    yield folded


def _stands_alone(word: str) -> bool:
    return not word.islower() and any(letter.isalpha() for letter in word)


def _possessor(run: str) -> str:
    """Drop the punctuation around a run, and the English genitive at its end."""
    bare = run.strip(PUNCTUATION)
    return bare.removesuffix("'s").removesuffix("’s")
