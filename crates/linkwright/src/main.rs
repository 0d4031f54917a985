//! The linkwright binary.
fn main() {}
