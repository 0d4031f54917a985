//! The model inside the program: all-MiniLM-L6-v2, 8-bit, English.
//!
//! Weights and tokenizer are part of the binary and are unpacked at the first text; a run that finds
//! all its vectors stored never does it.
//!
//! Work is done in waves of texts: a wave is tokenised, laid out in sequences, cut into batches and
//! encoded by as many workers as the current rayon pool has threads. Each worker runs its kernels on
//! one thread, so workers never wait for each other, and what they pool is added up in input order:
//! the result is the same for every number of threads.

use crate::encoder::Encoder;
use crate::model::{EmbedError, Embedder, Languages, ModelId, OnProgress, PageTexts, PageVectors, Progress};
use crate::text::{Pool, Sequence, TextTokenizer};
use crate::vectors::{Vectors, normalise};
use crate::weights::{Description, Weights};
use rayon::prelude::*;
use rten_gemm::GemmExecutor;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

static DESCRIPTION: &str = include_str!("../../../models/all-MiniLM-L6-v2/model.json");
static TOKENIZER: &[u8] = include_bytes!("../../../models/all-MiniLM-L6-v2/tokenizer.json");
static WEIGHTS: &[u8] = include_bytes!("../../../models/all-MiniLM-L6-v2/model.safetensors");

/// Tokens of a chunk, its two marks included.
const CHUNK_TOKENS: usize = 256;

/// Tokens a worker encodes in one go.
const BATCH_TOKENS: usize = 512;

/// Bytes of text in a wave: some 100,000 tokens, of which a worker's last batch is a small share.
const WAVE_BYTES: usize = 512 * 1024;

/// all-MiniLM-L6-v2: 384 dimensions, English, chunks of [`max_tokens`](Embedder::max_tokens).
pub struct MiniLm {
    id: ModelId,
    chunk: usize,
    loaded: OnceLock<Result<Loaded, EmbedError>>,
}

struct Loaded {
    weights: Weights,
    tokenizer: TextTokenizer,
}

/// One text of a call, as parts that are kept together.
struct Job<'a> {
    parts: &'a [&'a str],
    whole: usize,
    parts_from: Option<usize>,
}

impl Job<'_> {
    fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }
}

impl MiniLm {
    /// The model that is compiled into the program. Cheap: nothing is unpacked yet.
    #[must_use]
    pub fn builtin() -> Self {
        let description = describe();
        let id = ModelId { name: description.name, revision: description.revision, dimensions: description.hidden };
        Self { id, chunk: CHUNK_TOKENS, loaded: OnceLock::new() }
    }

    /// The same with chunks of another length, between 8 and 512 tokens. Vectors of long texts differ.
    #[must_use]
    pub fn with_chunk_tokens(mut self, tokens: usize) -> Self {
        self.chunk = tokens.clamp(8, 512);
        self
    }

    fn loaded(&self) -> Result<&Loaded, EmbedError> {
        self.loaded.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    /// Encodes jobs and adds what is pooled from them to `rows` rows.
    fn run(&self, jobs: &[Job<'_>], rows: usize, progress: OnProgress<'_>) -> Result<Vectors, EmbedError> {
        let mut vectors = Vectors::zeros(self.id.clone(), rows);
        let total_bytes = jobs.iter().map(|job| job.bytes() as u64).sum();
        let mut state = Progress { total_bytes, ..Progress::default() };
        let mut rest = jobs;
        while !rest.is_empty() {
            let loaded = self.loaded()?;
            let (wave, later) = rest.split_at(wave_length(rest));
            rest = later;
            let sequences = tokenise(loaded, wave, self.chunk)?;
            let wave_bytes = wave.iter().map(|job| job.bytes() as u64).sum::<u64>();
            let before = state;
            let wave_tokens: u64 = sequences.iter().map(|sequence| sequence.ids.len() as u64).sum();
            let tell = |tokens: u64| {
                let done_bytes = before.done_bytes + wave_bytes * tokens / wave_tokens.max(1);
                progress(Progress { done_bytes, total_bytes, done_tokens: before.done_tokens + tokens });
            };
            encode_wave(&loaded.weights, &sequences, &tell, &mut vectors)?;
            state.done_tokens += wave_tokens;
            state.done_bytes += wave_bytes;
            progress(state);
        }
        vectors.normalise();
        Ok(vectors)
    }
}

impl Embedder for MiniLm {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn languages(&self) -> Languages {
        Languages::Only(&["en"])
    }

    fn max_tokens(&self) -> usize {
        self.chunk
    }

    fn embed(&self, texts: &[&str], progress: OnProgress<'_>) -> Result<Vectors, EmbedError> {
        let jobs: Vec<Job<'_>> =
            texts.iter().enumerate().map(|(row, text)| Job { parts: std::slice::from_ref(text), whole: row, parts_from: None }).collect();
        self.run(&jobs, texts.len(), progress)
    }

    /// Passage vectors are read off the page's own forward pass: the mean over a passage's tokens,
    /// which have seen the rest of the chunk. That saves encoding everything twice.
    fn embed_pages(&self, pages: &[PageTexts<'_>], progress: OnProgress<'_>) -> Result<PageVectors, EmbedError> {
        let count = pages.len();
        let mut rows = 2 * count;
        let mut jobs = Vec::with_capacity(2 * count);
        for (number, page) in pages.iter().enumerate() {
            jobs.push(Job { parts: &page.passages, whole: number, parts_from: Some(rows) });
            jobs.push(Job { parts: std::slice::from_ref(&page.title), whole: count + number, parts_from: None });
            rows += page.passages.len();
        }
        let all = self.run(&jobs, rows, progress)?.into_values();
        let width = self.id.dimensions;
        let part = |from: usize, to: usize| Vectors::new(self.id.clone(), all[from * width..to * width].to_vec());
        Ok(PageVectors { pages: part(0, count)?, titles: part(count, 2 * count)?, passages: part(2 * count, rows)? })
    }
}

fn describe() -> Description {
    serde_json::from_str(DESCRIPTION).expect("the description is part of the program and tested")
}

fn load() -> Result<Loaded, EmbedError> {
    let weights = Weights::read(describe(), WEIGHTS, &GemmExecutor::default())?;
    Ok(Loaded { weights, tokenizer: TextTokenizer::read(TOKENIZER)? })
}

/// How many jobs make up the next wave, at least one.
fn wave_length(jobs: &[Job<'_>]) -> usize {
    let mut bytes = 0;
    let fitting = jobs.iter().take_while(|job| {
        bytes += job.bytes();
        bytes <= WAVE_BYTES
    });
    fitting.count().max(1)
}

fn tokenise(loaded: &Loaded, jobs: &[Job<'_>], chunk: usize) -> Result<Vec<Sequence>, EmbedError> {
    let laid_out: Result<Vec<Vec<Sequence>>, EmbedError> = jobs
        .par_iter()
        .map(|job| {
            let parts = job.parts.iter().map(|part| loaded.tokenizer.tokenise(part)).collect::<Result<Vec<_>, _>>()?;
            Ok(loaded.tokenizer.lay_out(&parts, chunk, job.whole, job.parts_from))
        })
        .collect();
    Ok(laid_out?.into_iter().flatten().collect())
}

/// Sequences, longest first, in batches of at most [`BATCH_TOKENS`] tokens or one sequence: large
/// batches come first, so that workers end together.
fn batch(sequences: &[Sequence]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..sequences.len()).collect();
    order.sort_by_key(|index| (std::cmp::Reverse(sequences[*index].ids.len()), *index));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut tokens = usize::MAX;
    for index in order {
        let length = sequences[index].ids.len();
        if tokens.saturating_add(length) > BATCH_TOKENS {
            batches.push(Vec::new());
            tokens = 0;
        }
        tokens += length;
        if let Some(last) = batches.last_mut() {
            last.push(index);
        }
    }
    batches
}

/// Unit means of the pools of one sequence, with their sizes.
type Pooled = Vec<(usize, f32, Vec<f32>)>;

/// Encodes the sequences of a wave on all workers and adds their pools to `vectors` in order.
fn encode_wave(weights: &Weights, sequences: &[Sequence], tell: &(dyn Fn(u64) + Sync), vectors: &mut Vectors) -> Result<(), EmbedError> {
    let batches = batch(sequences);
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let work = || -> Result<Vec<(usize, Pooled)>, EmbedError> {
        let mut encoder = Encoder::new(weights);
        let mut results = Vec::new();
        while let Some(members) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            let tokens = encode_batch(&mut encoder, sequences, members, &mut results)?;
            tell(done.fetch_add(tokens, Ordering::Relaxed) + tokens);
        }
        Ok(results)
    };
    let mut pooled: Vec<(usize, Pooled)> = Vec::with_capacity(sequences.len());
    for results in run_workers(rayon::current_num_threads().min(batches.len()), &work)? {
        pooled.extend(results?);
    }
    pooled.sort_unstable_by_key(|(index, _)| *index);
    for (row, weight, mean) in pooled.iter().flat_map(|(_, pools)| pools) {
        vectors.add_weighted(*row, *weight, mean);
    }
    Ok(())
}

/// Runs `work` on `count` threads, each of which is a rayon pool of its own: the kernels ask their
/// pool for its size and, finding one thread, do not split products further.
fn run_workers<T: Send>(count: usize, work: &(dyn Fn() -> T + Sync)) -> Result<Vec<T>, EmbedError> {
    let single = || rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pools = (0..count).map(|_| single()).collect::<Result<Vec<_>, _>>().map_err(|error| EmbedError::Threads(error.to_string()))?;
    Ok(std::thread::scope(|scope| {
        let handles: Vec<_> = pools.iter().map(|pool| scope.spawn(move || pool.install(work))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    }))
}

/// Encodes one batch, adds the pools of its members to `results`, and says how many tokens it had.
fn encode_batch(
    encoder: &mut Encoder<'_>,
    sequences: &[Sequence],
    members: &[usize],
    results: &mut Vec<(usize, Pooled)>,
) -> Result<u64, EmbedError> {
    let ids: Vec<u32> = members.iter().flat_map(|index| sequences[*index].ids.iter().copied()).collect();
    let lengths: Vec<usize> = members.iter().map(|index| sequences[*index].ids.len()).collect();
    let state = encoder.encode(&ids, &lengths)?;
    let width = state.len() / ids.len().max(1);
    let mut start = 0;
    for (index, length) in members.iter().zip(&lengths) {
        let rows = &state[start * width..(start + length) * width];
        let pools = sequences[*index].pools.iter().map(|pool| pool_mean(rows, width, pool)).collect();
        results.push((*index, pools));
        start += length;
    }
    Ok(ids.len() as u64)
}

/// The row a pool goes to, its number of tokens, and the unit vector of their mean.
fn pool_mean(rows: &[f32], width: usize, pool: &Pool) -> (usize, f32, Vec<f32>) {
    let mut sum = vec![0.0; width];
    for row in rows[pool.tokens.start * width..pool.tokens.end * width].chunks_exact(width) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    normalise(&mut sum);
    (pool.row, pool.tokens.len() as f32, sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 5] = [
        "Plain language is writing that is clear, concise and well organised.",
        "Write so that people understand you the first time they read it.",
        "Solar panels turn sunlight into electricity.",
        "",
        "☃",
    ];

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn long_text() -> String {
        let sentence = |number: usize| format!("Sentence number {number} is about the upkeep of bridges. ");
        (0..120).map(sentence).collect()
    }

    #[test]
    fn similar_meanings_are_closer_than_different_ones() -> Result<(), EmbedError> {
        let rows = MiniLm::builtin().embed(&TEXTS, &|_| ())?;
        assert!(rows.similarity(0, &rows, 1)? > rows.similarity(0, &rows, 2)? + 0.15);
        Ok(())
    }

    /// Cosines of the float model for the first text and the two after it.
    const FLOAT_COSINES: [f32; 2] = [0.3100, 0.0162];

    #[test]
    fn cosines_agree_with_the_float_model() -> Result<(), EmbedError> {
        let rows = MiniLm::builtin().embed(&TEXTS, &|_| ())?;
        for (pair, expected) in [((0, 1), FLOAT_COSINES[0]), ((0, 2), FLOAT_COSINES[1])] {
            let found = rows.similarity(pair.0, &rows, pair.1)?;
            assert!((found - expected).abs() < 0.02, "{pair:?}: {found}");
        }
        Ok(())
    }

    #[test]
    fn rows_have_length_one_and_empty_texts_give_zeros() -> Result<(), EmbedError> {
        let rows = MiniLm::builtin().embed(&TEXTS, &|_| ())?;
        for (row, text) in rows.rows().zip(TEXTS) {
            let length = cosine(row, row);
            assert!(if text.is_empty() { length == 0.0 } else { (length - 1.0).abs() < 1e-5 }, "{text}: {length}");
        }
        assert!(MiniLm::builtin().embed(&[], &|_| ())?.is_empty());
        Ok(())
    }

    #[test]
    fn a_text_has_the_same_bits_in_any_company_and_on_any_number_of_threads() -> Result<(), EmbedError> {
        let model = MiniLm::builtin();
        let long = long_text();
        let texts: Vec<&str> = (0..40).map(|i| if i % 7 == 3 { &long } else { TEXTS[i % TEXTS.len()] }).collect();
        let together: Vec<Vectors> = [1, 2, 3]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
                pool.install(|| model.embed(&texts, &|_| ()))
            })
            .collect::<Result<_, _>>()?;
        assert_eq!(together[0], together[1]);
        assert_eq!(together[0], together[2]);
        for index in [0, 1, 2, 3, 4] {
            assert_eq!(model.embed(&texts[index..=index], &|_| ())?.row(0), together[0].row(index), "{index}");
        }
        Ok(())
    }

    #[test]
    fn marks_of_the_model_are_words_when_a_page_says_them() -> Result<(), EmbedError> {
        let model = MiniLm::builtin();
        let tokenizer = &model.loaded()?.tokenizer;
        for text in ["[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]"] {
            let ids = tokenizer.tokenise(text)?;
            assert!(ids.len() >= 3 && ids.iter().all(|id| *id > 103), "{text}: {ids:?}");
        }
        Ok(())
    }

    #[test]
    fn hostile_texts_are_embedded_without_a_panic() -> Result<(), EmbedError> {
        let unbroken = "x".repeat(2_000_000);
        let marks = "[SEP]".repeat(3000);
        let wide = "界".repeat(20_000);
        let texts = [unbroken.as_str(), &marks, &wide, "\0\u{fffd}\u{202e}", "e\u{301}".repeat(50).leak()];
        let rows = MiniLm::builtin().embed(&texts, &|_| ())?;
        assert!(rows.as_slice().iter().all(|x| x.is_finite()));
        Ok(())
    }

    #[test]
    fn pages_give_page_title_and_passage_vectors_in_order() -> Result<(), EmbedError> {
        let model = MiniLm::builtin();
        let long = long_text();
        let pages = [
            PageTexts { title: "Plain language", passages: vec![TEXTS[0], "", TEXTS[1]] },
            PageTexts::default(),
            PageTexts { title: "Solar power", passages: vec![TEXTS[2], &long] },
        ];
        let vectors = model.embed_pages(&pages, &|_| ())?;
        assert_eq!((vectors.pages.len(), vectors.titles.len(), vectors.passages.len()), (3, 3, 5));
        let alone = model.embed(&[TEXTS[0], TEXTS[2], "Plain language"], &|_| ())?;
        assert!(vectors.passages.similarity(0, &alone, 0)? > 0.6);
        assert!(vectors.passages.similarity(3, &alone, 1)? > 0.6);
        assert_eq!(vectors.titles.row(0), alone.row(2));
        assert_eq!(vectors.passages.row(1), [0.0; 384]);
        assert_eq!(vectors.pages.row(1), [0.0; 384]);
        assert_eq!(model.embed_pages(&pages[2..], &|_| ())?.pages.row(0), vectors.pages.row(2));
        Ok(())
    }

    #[test]
    fn progress_ends_at_the_total_and_never_beyond() -> Result<(), EmbedError> {
        let seen = std::sync::Mutex::new(Vec::new());
        let long = long_text();
        MiniLm::builtin().embed(&[&long, TEXTS[0]], &|state| seen.lock().expect("no panic holds it").push(state))?;
        let seen = seen.into_inner().expect("no panic holds it");
        let last = seen.last().copied().unwrap_or_default();
        assert_eq!(last.done_bytes, (long.len() + TEXTS[0].len()) as u64);
        assert!(seen.iter().all(|state| state.done_bytes <= state.total_bytes && state.total_bytes == last.done_bytes));
        assert_eq!(last.total_tokens(), last.done_tokens);
        Ok(())
    }

    #[test]
    fn the_revision_is_the_hash_of_the_files() {
        use sha2::Digest;
        let digest = sha2::Sha256::new().chain_update(WEIGHTS).chain_update(TOKENIZER).finalize();
        let hexadecimal: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hexadecimal, MiniLm::builtin().id().revision);
    }
}
