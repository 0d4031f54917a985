//! How a use case tells what it is doing: a callback that the front end shows as it likes.

/// Hears of progress, from several threads.
pub trait Progress: Sync {
    /// A stage begins. `total` is the number of its steps, where it is known.
    fn stage(&self, name: &str, total: Option<u64>);
    /// So many more steps of the stage are done.
    fn advance(&self, steps: u64);
    /// A step of a change to the site or the ledger is about to be taken.
    fn step(&self, _name: &str) {}
}

/// Says nothing.
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
}
