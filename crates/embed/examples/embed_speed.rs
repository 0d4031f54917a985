//! Embeds the same texts again and again, once for each line on standard input, and prints how long
//! each time took: the other half of `scripts/bench_embed.py`, which runs two programs in turn.
//!
//! `embed_speed TEXTS.json THREADS [VECTORS.f32]`: a JSON array of strings; the vectors of the first
//! time are written to the third argument as raw little-endian floats.

#![expect(clippy::print_stdout, reason = "the measurements are this program's output")]

use linkwright_embed::{Embedder, MiniLm};
use std::io::{BufRead, Write};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [texts, threads, rest @ ..] = arguments.as_slice() else {
        return Err("usage: embed_speed TEXTS.json THREADS [VECTORS.f32]".into());
    };
    let texts: Vec<String> = serde_json::from_slice(&std::fs::read(texts)?)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build()?;
    let model = MiniLm::builtin();

    let start = Instant::now();
    model.embed(&["load"], &|_| ())?;
    println!("{:.6}", start.elapsed().as_secs_f64());
    let vectors = pool.install(|| model.embed(&texts, &|_| ()))?;
    if let Some(path) = rest.first() {
        let bytes: Vec<u8> = vectors.as_slice().iter().flat_map(|x| x.to_le_bytes()).collect();
        std::fs::write(path, bytes)?;
    }
    for _ in std::io::stdin().lock().lines() {
        let start = Instant::now();
        pool.install(|| model.embed(&texts, &|_| ()))?;
        println!("{:.6}", start.elapsed().as_secs_f64());
        std::io::stdout().flush()?;
    }
    Ok(())
}
