-- The owner's words: each row is on disk before anybody is told that it is so.

CREATE TABLE grants (
    subject    TEXT    NOT NULL,
    capability TEXT    NOT NULL,
    resource   TEXT    NOT NULL,
    level      TEXT    NOT NULL CHECK (level IN ('off', 'ask', 'allow')),
    revision   TEXT    NOT NULL,
    set_at_ms  INTEGER NOT NULL,
    PRIMARY KEY (subject, capability, resource)
) STRICT;

CREATE TABLE approvals (
    id            TEXT    NOT NULL PRIMARY KEY,
    subject       TEXT    NOT NULL,
    capability    TEXT    NOT NULL,
    resource      TEXT    NOT NULL,
    revision      TEXT    NOT NULL,
    entry         TEXT    NOT NULL,
    args_hash     TEXT    NOT NULL,
    state         TEXT    NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'withdrawn')),
    asked_at_ms   INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX approvals_by_state ON approvals (state, subject, capability, resource);
