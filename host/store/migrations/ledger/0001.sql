-- What happened: origins, methods, sizes, verdicts and durations; never payloads, cookies, tokens or page text.

CREATE TABLE ledger (
    seq         INTEGER NOT NULL PRIMARY KEY,
    at_ms       INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    call        INTEGER NOT NULL,
    app         TEXT    NOT NULL,
    revision    TEXT    NOT NULL,
    caller_kind TEXT    NOT NULL,
    run         TEXT    NOT NULL,
    entry       TEXT    NOT NULL,
    method      TEXT    NOT NULL,
    origin      TEXT    NOT NULL,
    session     TEXT    NOT NULL,
    verdict     TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    bytes       INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    segment     INTEGER NOT NULL,
    hash        TEXT    NOT NULL
) STRICT;

-- `anchor` is the hash before the segment's first row, `head` that of its last; both stay when its rows are pruned.
CREATE TABLE segments (
    segment   INTEGER NOT NULL PRIMARY KEY,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    anchor    TEXT    NOT NULL,
    head      TEXT    NOT NULL,
    pruned    INTEGER NOT NULL DEFAULT 0
) STRICT;
