-- Decisions that revise, notes, and the ledger of what was written.

-- The opportunity as a run proposed it, where a reviewer has revised it.
ALTER TABLE opportunities ADD COLUMN proposed TEXT;

-- The opportunity as it was decided on, where the decision revised it.
ALTER TABLE decisions ADD COLUMN revised TEXT;
-- Fingerprints of the two pages' main text, so that a material change can be told from a small one.
ALTER TABLE decisions ADD COLUMN source_print TEXT;
ALTER TABLE decisions ADD COLUMN target_print TEXT;

CREATE TABLE notes (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    opportunity TEXT NOT NULL REFERENCES opportunities (id),
    reviewer    TEXT NOT NULL,
    written_at  TEXT NOT NULL,
    text        TEXT NOT NULL
);

CREATE INDEX notes_by_opportunity ON notes (opportunity, id);

-- One inserted link. A row says what, the ledger says what became of it.
CREATE TABLE edits (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    run              INTEGER NOT NULL REFERENCES runs (id),
    opportunity      TEXT NOT NULL REFERENCES opportunities (id),
    publisher        TEXT NOT NULL CHECK (publisher IN ('folder', 'wordpress')),
    site             TEXT NOT NULL,
    location         TEXT NOT NULL,
    source_url       TEXT NOT NULL,
    target_url       TEXT NOT NULL,
    format           TEXT NOT NULL,
    link             TEXT NOT NULL,
    passage          TEXT NOT NULL,
    hash_before      TEXT NOT NULL,
    hash_after       TEXT NOT NULL,
    place            INTEGER NOT NULL,
    opening          BLOB NOT NULL,
    words            BLOB NOT NULL,
    closing          BLOB NOT NULL,
    definition_place INTEGER,
    definition       BLOB,
    context_before   BLOB NOT NULL,
    context_after    BLOB NOT NULL
);

CREATE INDEX edits_by_run ON edits (run, id);
CREATE INDEX edits_by_opportunity ON edits (opportunity, id);

CREATE TABLE ledger (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    edit   INTEGER NOT NULL REFERENCES edits (id),
    run    INTEGER NOT NULL REFERENCES runs (id),
    event  TEXT NOT NULL CHECK (event IN
        ('begun', 'written', 'abandoned', 'undo_begun', 'undone', 'undo_abandoned', 'observed', 'missing', 'changed')),
    at     TEXT NOT NULL,
    who    TEXT NOT NULL,
    -- Hash of the page's bytes that the event found or left.
    hash   TEXT NOT NULL,
    detail TEXT
);

CREATE INDEX ledger_by_edit ON ledger (edit, id);

CREATE TRIGGER notes_are_never_changed BEFORE UPDATE ON notes
BEGIN SELECT RAISE(ABORT, 'notes are append-only'); END;
CREATE TRIGGER notes_are_never_removed BEFORE DELETE ON notes
BEGIN SELECT RAISE(ABORT, 'notes are append-only'); END;
CREATE TRIGGER edits_are_never_changed BEFORE UPDATE ON edits
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER edits_are_never_removed BEFORE DELETE ON edits
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_never_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_never_shortened BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
