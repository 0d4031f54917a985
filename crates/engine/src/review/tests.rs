//! Filters, conflicts, revisions and the effect on a small site.
