"""A Lark parser that is fed with tokens, and the error for a token that does not fit."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedToken


class Unfit(Exception):
    """The token at ``index`` does not fit, or the end where that is None; ``accepted`` are the kinds that would."""

    def __init__(self, index: int | None, accepted: set[str]) -> None:
        self.index = index
        self.accepted = accepted
        super().__init__(index)


def fed(parser: Lark, tokens: Sequence[Token], start: str) -> Tree[Token]:
    """The tree of some tokens. Raises `Unfit`."""
    state = parser.parse_interactive("", start=start)
    for index, token in enumerate(tokens):
        try:
            state.feed_token(token)
        except UnexpectedToken:
            raise Unfit(index, state.accepts()) from None
    try:
        return state.feed_eof(tokens[-1] if tokens else None)
    except UnexpectedToken:
        raise Unfit(None, state.accepts()) from None


def inside(tree: Tree[Token], *kinds: str) -> list[Tree[Token] | Token]:
    """The children of a tree, without tokens of some kinds."""
    return [each for each in tree.children if isinstance(each, Tree) or each.type not in kinds]
