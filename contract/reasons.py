"""Every reason that an answer can carry: its status, its title and the text of its page.

`spades.Reason` holds what the rules refuse; this module adds what HTTP, identity and the state of a service refuse, and
joins both in `CATALOGUE`. The values are public: one may be added, none renamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from spades.errors import Reason

__all__ = [
    "BID_REASONS",
    "CARD_REASONS",
    "CATALOGUE",
    "DRAW_REASONS",
    "IMPOSSIBLE_BID_REASONS",
    "RULESET_REASONS",
    "TOLD_BID_REASONS",
    "ContractReason",
    "Entry",
    "join",
]


class ContractReason(StrEnum):
    """Why a request is refused, beyond the rules of the game."""

    # 400: what no ruleset and no state could allow. The answer's reason is `malformed`; the rest name single faults.
    MALFORMED = "malformed"
    NOT_JSON = "not_json"
    TOO_DEEP = "too_deep"
    DUPLICATE_FIELD = "duplicate_field"
    UNKNOWN_FIELD = "unknown_field"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"
    NOT_ALLOWED_VALUE = "not_allowed_value"
    OUT_OF_RANGE = "out_of_range"
    WRONG_LENGTH = "wrong_length"
    BAD_FORMAT = "bad_format"
    FORBIDDEN_CHARACTER = "forbidden_character"
    # 401, 403, 404
    UNAUTHENTICATED = "unauthenticated"
    SCOPE_MISSING = "scope_missing"
    NOT_YOUR_SEAT = "not_your_seat"
    NOT_HOST = "not_host"
    SPECTATORS_FORBIDDEN = "spectators_forbidden"
    INVITATION_REQUIRED = "invitation_required"
    INVITATION_INVALID = "invitation_invalid"
    REGISTRATION_CLOSED = "registration_closed"
    NOT_FOUND = "not_found"
    # What HTTP itself refuses
    METHOD_NOT_ALLOWED = "method_not_allowed"
    NOT_ACCEPTABLE = "not_acceptable"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    HEADERS_TOO_LARGE = "headers_too_large"
    # 409 and 412: the state forbids it
    SEAT_TAKEN = "seat_taken"
    SEAT_AMBIGUOUS = "seat_ambiguous"
    ALREADY_SEATED = "already_seated"
    ABORT_NOT_ALLOWED = "abort_not_allowed"
    GAME_NOT_FULL = "game_not_full"
    GAME_NOT_OVER = "game_not_over"
    SANDBOX_NOT_ACCEPTED = "sandbox_not_accepted"
    TOO_MANY = "too_many"
    NOTHING_TO_UNDO = "nothing_to_undo"
    NOTHING_TO_REDO = "nothing_to_redo"
    BOARD_OPEN = "board_open"
    IDEMPOTENCY_IN_PROGRESS = "idempotency_in_progress"
    STALE_VERSION = "stale_version"
    # 422
    IDEMPOTENCY_MISMATCH = "idempotency_mismatch"
    RECORD_HAS_BREACH = "record_has_breach"
    # Load and trouble
    RATE_LIMITED = "rate_limited"
    INTERNAL_ERROR = "internal_error"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Entry:
    """One reason as its page shows it: HTTP status, a title of a few words, and what it means and what to do."""

    reason: str
    status: int
    title: str
    help: str


_OWN: tuple[Entry, ...] = (
    Entry(
        ContractReason.MALFORMED,
        400,
        "The request is malformed",
        "Something in the request could not be right in any game and under any ruleset: text that is no JSON, an "
        "unknown field, a number where a word belongs. Nothing was changed. `errors` lists every fault that was "
        "found: for the body, `pointer` is a JSON Pointer (RFC 6901); for a query parameter it is `?name`; for a "
        "header, its name. Correct the request before sending it again; the same bytes will be refused each time.",
    ),
    Entry(
        ContractReason.NOT_JSON,
        400,
        "The body is not JSON",
        "The body must be one JSON text in UTF-8, as RFC 8259 has it. NaN and Infinity, comments, trailing commas, a "
        "byte order mark, half a surrogate pair and bytes that are no UTF-8 are refused. The detail says where "
        "reading stopped.",
    ),
    Entry(
        ContractReason.TOO_DEEP,
        400,
        "The body is nested too deeply",
        "Objects and arrays may be nested 20 deep. No request of this API needs more than a handful of levels.",
    ),
    Entry(
        ContractReason.DUPLICATE_FIELD,
        400,
        "A field is given twice",
        "One object of the body names the same field more than once. Readers of JSON disagree about which of the two "
        "counts, so neither does here.",
    ),
    Entry(
        ContractReason.UNKNOWN_FIELD,
        400,
        "There is no such field",
        "The body has a field, or the address a query parameter, that this operation does not know. It is refused "
        "rather than ignored, so that a misspelt option is noticed before the game is played with another value.",
    ),
    Entry(
        ContractReason.MISSING_FIELD,
        400,
        "A required field is missing",
        "The operation needs this field. The schema lists the required fields of every request.",
    ),
    Entry(
        ContractReason.WRONG_TYPE,
        400,
        "A value has the wrong type",
        'JSON types are taken exactly: `3` is an integer, while `"3"`, `3.0` and `true` are not, and `null` stands '
        "for a value only where the schema says so.",
    ),
    Entry(
        ContractReason.NOT_ALLOWED_VALUE,
        400,
        "The value is not one of those allowed",
        "The field takes one of a fixed list of values, spelt exactly as the schema lists them.",
    ),
    Entry(
        ContractReason.OUT_OF_RANGE,
        400,
        "The number is out of range",
        "The number is smaller or larger than any ruleset could allow. A number that only this table's rules forbid "
        "is answered with 422 and a reason of its own.",
    ),
    Entry(
        ContractReason.WRONG_LENGTH,
        400,
        "Too short or too long",
        "A text or a list has fewer or more elements than the field takes. Text is counted in Unicode code points, "
        "after white space at both ends has been removed where the field does so.",
    ),
    Entry(
        ContractReason.BAD_FORMAT,
        400,
        "The text is not in the expected form",
        "The text does not spell what the field holds: a card such as `QH`, an id, a time, a cursor that this service "
        "handed out, a header in its standard form.",
    ),
    Entry(
        ContractReason.FORBIDDEN_CHARACTER,
        400,
        "The text has a forbidden character",
        "Names and other texts may hold any letters and signs, but no control characters, no line breaks, no half "
        "surrogate pairs and no marks that turn the direction of the text around them.",
    ),
    Entry(
        ContractReason.UNAUTHENTICATED,
        401,
        "No valid token",
        "The operation needs `Authorization: Bearer TOKEN` with a token that this service gave out and that has not "
        "been revoked. A token is shown once, when it is made; a lost one cannot be read again, only replaced.",
    ),
    Entry(
        ContractReason.SCOPE_MISSING,
        403,
        "The token may not do this",
        "The token is valid, but it is of another kind than the operation takes, or it lacks the operation's scope. "
        "The schema names both for every operation: `x-tokens` and `x-scope`.",
    ),
    Entry(
        ContractReason.NOT_YOUR_SEAT,
        403,
        "The seat is somebody else's",
        "The request names a seat that your token does not hold. The seat that acts always comes from the token; a "
        "body or an address cannot borrow another one.",
    ),
    Entry(
        ContractReason.NOT_HOST,
        403,
        "Only the host may do this",
        "Starting the game, seating bots, removing somebody before the start, aborting, and giving out invitations and "
        "watch links belong to the account that made the table.",
    ),
    Entry(
        ContractReason.SPECTATORS_FORBIDDEN,
        403,
        "This table has no spectators",
        "Whoever made the table forbade watching. Before the game starts the table may be looked at, to sit down at "
        "it; afterwards only its seats and its host see it.",
    ),
    Entry(
        ContractReason.INVITATION_REQUIRED,
        403,
        "A seat here needs an invitation",
        "An unlisted table may be watched by whoever knows its address, but a seat is taken by invitation only. Its "
        "host gives one out; its token goes into `invitation` of the body.",
    ),
    Entry(
        ContractReason.INVITATION_INVALID,
        403,
        "The invitation does not hold here",
        "The invitation is unknown, of another table, for another seat, used up, expired, or it was taken back. Ask "
        "the host for a new one.",
    ),
    Entry(
        ContractReason.REGISTRATION_CLOSED,
        403,
        "Accounts are not open to everybody here",
        "Whoever runs this service makes the accounts. Ask for a token; the command that makes one is "
        "`create_account`.",
    ),
    Entry(
        ContractReason.NOT_FOUND,
        404,
        "Nothing here that you may know of",
        "There is nothing at this address, or it is not yours to know of: the two are answered alike. A seat's token "
        "at another table gets this answer too.",
    ),
    Entry(
        ContractReason.METHOD_NOT_ALLOWED,
        405,
        "The address does not take this method",
        "The address exists, but not for this method. The `Allow` header lists the methods that it takes.",
    ),
    Entry(
        ContractReason.NOT_ACCEPTABLE,
        406,
        "No such representation",
        "The `Accept` header leaves out everything that this address can answer with. Answers are `application/json`, "
        "and problems `application/problem+json`; a request without `Accept` gets those.",
    ),
    Entry(
        ContractReason.PAYLOAD_TOO_LARGE,
        413,
        "The body is too large",
        "A body may have 65,536 bytes. Nothing beyond them was read.",
    ),
    Entry(
        ContractReason.UNSUPPORTED_MEDIA_TYPE,
        415,
        "The body is not labelled as JSON",
        "A body needs `Content-Type: application/json`, in UTF-8 and not compressed.",
    ),
    Entry(
        ContractReason.HEADERS_TOO_LARGE,
        431,
        "The headers are too large",
        "The request line and the headers may have 65,536 bytes together. The connection was closed.",
    ),
    Entry(
        ContractReason.SEAT_TAKEN,
        409,
        "The seat is taken",
        "Somebody sits there already, perhaps since a moment ago. The view of the table shows which seats are open.",
    ),
    Entry(
        ContractReason.SEAT_AMBIGUOUS,
        409,
        "The account holds several seats here",
        "Your account holds several seats at this table. Name the one that acts in the `X-Seat` header, or use that "
        "seat's own token.",
    ),
    Entry(
        ContractReason.ALREADY_SEATED,
        409,
        "You sit at this table already",
        "An account holds one seat at a table, unless that was made with `hot_seat`. Leave it first to take another.",
    ),
    Entry(
        ContractReason.ABORT_NOT_ALLOWED,
        409,
        "The game cannot be aborted now",
        "While other people play, one of them cannot undo the game. Resigning is the way out: it ends the game with a "
        "result.",
    ),
    Entry(
        ContractReason.GAME_NOT_FULL,
        409,
        "The table is not full",
        "A game starts when every seat is taken, by a person or by a bot. At least one seat is still open.",
    ),
    Entry(
        ContractReason.GAME_NOT_OVER,
        409,
        "The game has not ended",
        "A rematch follows a game that is over. Play on, or resign.",
    ),
    Entry(
        ContractReason.SANDBOX_NOT_ACCEPTED,
        409,
        "This is a sandbox",
        "Whoever made the table set its deals, and may know every card. `sandbox` in the view says so. Who wants to "
        "sit there all the same sends `accept_sandbox` with `true`.",
    ),
    Entry(
        ContractReason.TOO_MANY,
        409,
        "There are too many of these",
        "A table has a bounded number of invitations and of watch links in force. Delete one that is no longer needed, "
        "or let it expire.",
    ),
    Entry(
        ContractReason.NOTHING_TO_UNDO,
        409,
        "Nothing to take back",
        "Everything that was written on this sheet since it was made has been taken back. `undo` of the sheet says how "
        "many changes could be.",
    ),
    Entry(
        ContractReason.NOTHING_TO_REDO,
        409,
        "Nothing to write again",
        "No change of this sheet was taken back, or something new was written since. `redo` of the sheet says how many "
        "changes could be written again.",
    ),
    Entry(
        ContractReason.BOARD_OPEN,
        409,
        "The board is still being played",
        "A duplicate board is its table's alone until the last table has played it. Afterwards everybody may see it.",
    ),
    Entry(
        ContractReason.IDEMPOTENCY_IN_PROGRESS,
        409,
        "The same request is still running",
        "A request with this `Idempotency-Key` has not ended yet. Wait as long as `Retry-After` says and send the "
        "same request again: it will get the first one's answer.",
    ),
    Entry(
        ContractReason.STALE_VERSION,
        412,
        "The game has moved on",
        "`If-Match` names a version that is no longer the game's last. Nothing was changed. `version` is the present "
        "one: read the view, decide anew and send the action with the new tag.",
    ),
    Entry(
        ContractReason.IDEMPOTENCY_MISMATCH,
        422,
        "The key was used for another request",
        "This `Idempotency-Key` came with another method, address or body within the last 24 hours. Every new request "
        "needs a key of its own; only a repetition of the same request uses the same key.",
    ),
    Entry(
        ContractReason.RECORD_HAS_BREACH,
        422,
        "The game could not have been played",
        "The record says something that its own rules do not allow, so it proves nothing. `breach` has the first such "
        "thing: deal, action, seat and reason, as `rule_on_record` tells it.",
    ),
    Entry(
        ContractReason.RATE_LIMITED,
        429,
        "Too many requests",
        "A limit is used up until the time that `Retry-After` gives in seconds. `RateLimit-Policy` names the limits "
        "that were counted and `RateLimit` what is left of them; both are on every answer, so a client can slow down "
        "in time.",
    ),
    Entry(
        ContractReason.INTERNAL_ERROR,
        500,
        "A fault in the service",
        "The request met an error of ours. It was logged under the `request_id` of this answer; nothing was changed "
        "by halves. A repetition with the same `Idempotency-Key` is safe.",
    ),
    Entry(
        ContractReason.UNAVAILABLE,
        503,
        "Not available at the moment",
        "The database or another part that the service cannot do without is away, or too busy to answer in time. "
        "Nothing was changed. Try again after the seconds in `Retry-After`, with the same `Idempotency-Key`.",
    ),
)

# The rules say 409 where the same request could be right at another moment, and 422 where it could not.
_RULES: tuple[Entry, ...] = (
    Entry(
        Reason.NOT_YOUR_TURN,
        409,
        "It is another seat's turn",
        "The table waits for somebody else. `turn` in the view says for whom, and `legal` is only given to a seat on "
        "turn.",
    ),
    Entry(
        Reason.WRONG_PHASE,
        409,
        "Not in this phase",
        "The deal is in another phase: cards are drawn or passed, bid and played in turn, and each action belongs to "
        "one of these. `deal.phase` in the view names the present one.",
    ),
    Entry(
        Reason.GAME_OVER,
        409,
        "The game has ended",
        "The game is finished or was aborted, so nothing more can be done at this table. `result` in the view says "
        "how it ended.",
    ),
    Entry(
        Reason.ALREADY_BID,
        409,
        "This seat has bid",
        "A seat bids once a deal, and a bid stands once it is made.",
    ),
    Entry(
        Reason.LOOK_FIRST,
        409,
        "Look at your hand first",
        "This seat may still bid blind, so its hand is not shown. Either make a blind bid, or give it up by looking "
        "at the hand; then other actions are open.",
    ),
    Entry(
        Reason.REDEAL_NOT_ALLOWED,
        409,
        "No new deal now",
        "A new deal can be called only where the ruleset has it, with a hand that entitles to it, after seeing the "
        "hand and before the first bid.",
    ),
    Entry(
        Reason.DISCARD_PILE_CLOSED,
        422,
        "Discards stay where they are",
        "In the two-player draw a discarded card is out of the deal. It can be neither taken nor looked at again.",
    ),
    Entry(
        Reason.SECOND_CARD_IS_FORCED,
        422,
        "The second card must be kept",
        "Whoever declines the first card of a turn takes the next one unseen and keeps it; there is no second choice.",
    ),
    Entry(
        Reason.ONE_CARD_PER_TURN,
        422,
        "One card a turn",
        "Each turn of the draw puts exactly one card into the hand. Keeping the first one sends the second to the "
        "discards.",
    ),
    Entry(
        Reason.DECIDE_FIRST,
        422,
        "Decide about the first card",
        "The second card of a turn is not shown before the first one is kept or declined.",
    ),
    Entry(
        Reason.BID_OUT_OF_RANGE,
        422,
        "The bid is out of range",
        "The number is smaller or larger than this table's ruleset lets a seat bid. `legal` lists the bids that are "
        "open.",
    ),
    Entry(
        Reason.NIL_NOT_OFFERED,
        422,
        "Nil is not played here",
        "The ruleset of this table has no nil bid. A promise of no trick is then at best a plain zero, if that is "
        "allowed.",
    ),
    Entry(
        Reason.BLIND_NIL_NOT_ALLOWED,
        422,
        "No blind bid here",
        "The ruleset of this table does not have this blind bid: a blind nil, or a number bid blind, which has no "
        "reason of its own. `rule` names the option that decided.",
    ),
    Entry(
        Reason.BLIND_NOT_BEHIND,
        422,
        "Not far enough behind for a blind bid",
        "The ruleset lets a side bid blind only when it trails by a given number of points.",
    ),
    Entry(
        Reason.HAND_ALREADY_SEEN,
        422,
        "The hand has been seen",
        "A blind bid is made before looking at the cards. This seat has looked.",
    ),
    Entry(
        Reason.BLIND_SIDE_INCOMPLETE,
        422,
        "Half a side cannot bid blind",
        "A side's blind contract needs the blind bids of both partners.",
    ),
    Entry(
        Reason.TEAM_MINIMUM,
        422,
        "The side bids too little",
        "The bids of both partners together stay below the least that the ruleset asks of a side.",
    ),
    Entry(
        Reason.TEAM_MAXIMUM,
        422,
        "The side bids too much",
        "The bids of both partners together exceed what the ruleset allows a side.",
    ),
    Entry(
        Reason.TOTAL_EQUALS_TRICKS,
        422,
        "The bids must not add up to the tricks",
        "Under this ruleset the last bidder may not make the sum of all bids equal the number of tricks in the deal.",
    ),
    Entry(
        Reason.SUICIDE_NEEDS_NIL,
        422,
        "One partner must bid nil",
        "In Suicide Spades one partner of each side bids nil. The other has named a number, so nil is left.",
    ),
    Entry(
        Reason.SUICIDE_NEEDS_NUMBER,
        422,
        "One partner must bid a number",
        "In Suicide Spades only one partner of each side bids nil. The other has done so, so a number is left.",
    ),
    Entry(
        Reason.BID_IS_FORCED,
        422,
        "There is only one bid",
        "The ruleset fixes the bid, by the spades in the hand or otherwise, and it was another one.",
    ),
    Entry(
        Reason.PASS_COUNT_WRONG,
        422,
        "The wrong number of cards",
        "Passing and exchanging move an exact number of cards, all of them different.",
    ),
    Entry(
        Reason.NOT_IN_HAND,
        422,
        "The card is not in your hand",
        "A seat plays, passes and gives only cards that it holds. The answer is the same wherever else the card may "
        "be.",
    ),
    Entry(
        Reason.MUST_FOLLOW_SUIT,
        422,
        "You must follow suit",
        "A seat that holds a card of the suit that was led plays such a card. Only without one is the choice free.",
    ),
    Entry(
        Reason.FIRST_LEAD_SPADE,
        422,
        "The first lead is no spade",
        "Under this ruleset the first card of a deal may not be a spade, unless the hand has nothing else.",
    ),
    Entry(
        Reason.SPADES_NOT_BROKEN,
        422,
        "Spades are not broken",
        "A spade may not be led before one has been played on another suit, unless the hand holds only spades. The "
        "ruleset's `spade_lead` says how this table has it.",
    ),
    Entry(
        Reason.MUST_LEAD_LOWEST_CLUB,
        422,
        "The lowest club leads",
        "Under this ruleset the first trick is led with the lowest club of the deal.",
    ),
    Entry(
        Reason.MUST_PLAY_LOWEST_CLUB,
        422,
        "Play your lowest club",
        "Under this ruleset everybody plays their lowest club to the first trick, if they hold one.",
    ),
    Entry(
        Reason.FIRST_TRICK_SPADE,
        422,
        "No spade in the first trick",
        "Under this ruleset no spade may be played to the first trick, unless the hand has nothing else.",
    ),
    Entry(
        Reason.MUST_TRUMP,
        422,
        "You must trump",
        "Under this ruleset a seat that cannot follow suit plays a spade if it holds one.",
    ),
    Entry(
        Reason.TRICKS_DO_NOT_ADD_UP,
        422,
        "The tricks do not add up",
        "The tricks of all seats together must be the number of tricks in the deal.",
    ),
    Entry(
        Reason.RULESET_CONTRADICTION,
        422,
        "The ruleset contradicts itself",
        "Some options exclude each other. `errors` lists every contradiction, at what was sent that brings it about.",
    ),
    Entry(
        Reason.OPTION_NOT_SUPPORTED,
        422,
        "Not played here yet",
        "The ruleset is valid, but this service does not play some of its options yet. `errors` names each with its "
        "value. It is refused, rather than played by other rules than those asked for.",
    ),
)


def join(rules: Iterable[Reason | str] = Reason) -> Mapping[str, Entry]:
    """Join the contract's own reasons with those of the rules into one catalogue, by reason.

    A rule reason without a text here gets its title from its name, and a test asks for the rest.

    Raises:
        ValueError: a reason is both a rule's and the contract's, so a client could not tell which one it met.
    """
    entries = {str(entry.reason): entry for entry in _OWN}
    told = {str(entry.reason): entry for entry in _RULES}
    for rule in map(str, rules):
        if rule in entries:
            raise ValueError(f"the reason {rule!r} is the contract's own and cannot be a rule's too")
        entries[rule] = told.get(rule) or Entry(rule, 422, rule.replace("_", " ").capitalize(), "")
    return MappingProxyType(entries)


CATALOGUE: Mapping[str, Entry] = join()

# Why the rules refuse one thing, for the operations that take it. Whose turn it is, and in which phase, comes before.

RULESET_REASONS = (Reason.RULESET_CONTRADICTION, Reason.OPTION_NOT_SUPPORTED)
DRAW_REASONS = (
    Reason.DISCARD_PILE_CLOSED,
    Reason.SECOND_CARD_IS_FORCED,
    Reason.ONE_CARD_PER_TURN,
    Reason.DECIDE_FIRST,
)
IMPOSSIBLE_BID_REASONS = (Reason.BID_OUT_OF_RANGE, Reason.NIL_NOT_OFFERED, Reason.BLIND_NIL_NOT_ALLOWED)
"""Why no seat at a table could ever have made a bid."""
BID_REASONS = (
    Reason.ALREADY_BID,
    Reason.LOOK_FIRST,
    *IMPOSSIBLE_BID_REASONS,
    Reason.BLIND_NOT_BEHIND,
    Reason.HAND_ALREADY_SEEN,
    Reason.BLIND_SIDE_INCOMPLETE,
    Reason.TEAM_MINIMUM,
    Reason.TEAM_MAXIMUM,
    Reason.TOTAL_EQUALS_TRICKS,
    Reason.SUICIDE_NEEDS_NIL,
    Reason.SUICIDE_NEEDS_NUMBER,
    Reason.BID_IS_FORCED,
)
TOLD_BID_REASONS = tuple(
    reason for reason in BID_REASONS if reason not in (Reason.ALREADY_BID, Reason.LOOK_FIRST, Reason.HAND_ALREADY_SEEN)
)
"""The same where only the bids of a deal are told, and not when each was made."""
CARD_REASONS = (
    Reason.NOT_IN_HAND,
    Reason.MUST_FOLLOW_SUIT,
    Reason.FIRST_LEAD_SPADE,
    Reason.SPADES_NOT_BROKEN,
    Reason.MUST_LEAD_LOWEST_CLUB,
    Reason.MUST_PLAY_LOWEST_CLUB,
    Reason.FIRST_TRICK_SPADE,
    Reason.MUST_TRUMP,
)
