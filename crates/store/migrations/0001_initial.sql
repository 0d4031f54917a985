-- The first schema. Applied files are never edited: a change is a new file.

-- "lkwr": tells a project database from any other SQLite file.
PRAGMA application_id = 1818982258;

CREATE TABLE runs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    site        TEXT NOT NULL,
    base_url    TEXT NOT NULL,
    started_at  TEXT NOT NULL,
    finished_at TEXT,
    status      TEXT NOT NULL CHECK (status IN ('running', 'finished', 'failed', 'interrupted')),
    version     TEXT NOT NULL,
    rules       TEXT NOT NULL,
    model       TEXT NOT NULL,
    settings    TEXT NOT NULL
);

CREATE TABLE crawls (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    site        TEXT NOT NULL,
    scope       TEXT NOT NULL,
    started_at  TEXT NOT NULL,
    finished_at TEXT,
    status      TEXT NOT NULL CHECK (status IN ('running', 'finished'))
);

CREATE TABLE bodies (
    id       INTEGER PRIMARY KEY,
    hash     BLOB NOT NULL UNIQUE,
    deflated INTEGER NOT NULL,
    bytes    BLOB NOT NULL
);

CREATE TABLE pages (
    crawl           INTEGER NOT NULL REFERENCES crawls (id),
    url_key         TEXT NOT NULL,
    url             TEXT NOT NULL,
    outcome         TEXT NOT NULL,
    status          INTEGER NOT NULL,
    redirects       TEXT NOT NULL,
    headers         TEXT NOT NULL,
    format          TEXT NOT NULL,
    path            TEXT,
    in_sitemap      INTEGER NOT NULL,
    in_links        INTEGER NOT NULL,
    sitemap_lastmod TEXT,
    detail          TEXT,
    body_hash       BLOB REFERENCES bodies (hash),
    PRIMARY KEY (crawl, url_key)
) WITHOUT ROWID;

CREATE INDEX pages_by_body ON pages (body_hash);
CREATE INDEX pages_by_key ON pages (url_key, crawl);

CREATE TABLE models (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL CHECK (dimensions > 0)
);

CREATE TABLE vectors (
    id          INTEGER PRIMARY KEY,
    model       INTEGER NOT NULL REFERENCES models (id),
    text_hash   BLOB NOT NULL,
    vector_rows BLOB NOT NULL,
    UNIQUE (model, text_hash)
);

CREATE TABLE plans (
    run   INTEGER PRIMARY KEY REFERENCES runs (id),
    bytes BLOB NOT NULL
);

CREATE TABLE opportunities (
    id          TEXT PRIMARY KEY,
    state       TEXT NOT NULL CHECK (state IN
        ('found', 'accepted', 'rejected', 'published', 'observed', 'missing', 'undone', 'expired')),
    source_key  TEXT NOT NULL,
    target_key  TEXT NOT NULL,
    source_hash TEXT NOT NULL,
    score       REAL NOT NULL,
    first_run   INTEGER NOT NULL REFERENCES runs (id),
    last_run    INTEGER NOT NULL REFERENCES runs (id),
    payload     TEXT NOT NULL
);

CREATE INDEX opportunities_by_state ON opportunities (state, score DESC, id);
CREATE INDEX opportunities_by_pair ON opportunities (source_key, target_key);

CREATE TABLE gaps (
    run        INTEGER NOT NULL REFERENCES runs (id),
    position   INTEGER NOT NULL,
    source_key TEXT NOT NULL,
    target_key TEXT NOT NULL,
    score      REAL NOT NULL,
    reason     TEXT NOT NULL,
    payload    TEXT NOT NULL,
    PRIMARY KEY (run, position)
);

CREATE TABLE decisions (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    opportunity TEXT NOT NULL REFERENCES opportunities (id),
    from_state  TEXT NOT NULL,
    to_state    TEXT NOT NULL,
    reviewer    TEXT NOT NULL,
    decided_at  TEXT NOT NULL,
    reason      TEXT,
    source_hash TEXT NOT NULL,
    target_hash TEXT
);

CREATE INDEX decisions_by_opportunity ON decisions (opportunity, id);

CREATE TRIGGER decisions_are_never_changed BEFORE UPDATE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;

CREATE TRIGGER decisions_are_never_removed BEFORE DELETE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
