//! Texts to token sequences: tokenised, cut into chunks that the encoder reads in one piece.

use crate::model::EmbedError;
use std::ops::Range;
use tokenizers::Tokenizer;

/// Texts longer than this are read up to here: a single paragraph of this size is no prose.
pub(crate) const MAX_TEXT_BYTES: usize = 256 * 1024;

/// A WordPiece tokenizer that treats everything in a text as text.
pub(crate) struct TextTokenizer {
    inner: Tokenizer,
    first: u32,
    last: u32,
    /// For each token whether it continues a word, by id.
    continues: Vec<bool>,
    /// For each token whether it ends a sentence, by id.
    ends_sentence: Vec<bool>,
}

/// Where the mean of some tokens of a sequence goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pool {
    /// Tokens within the sequence.
    pub(crate) tokens: Range<usize>,
    /// Row of the result.
    pub(crate) row: usize,
}

/// A chunk of text between the model's two marks, and what is read off from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) ids: Vec<u32>,
    pub(crate) pools: Vec<Pool>,
}

impl TextTokenizer {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// When it is damaged or lacks the marks `[CLS]` and `[SEP]`.
    pub(crate) fn read(json: &[u8]) -> Result<Self, EmbedError> {
        let mut inner = Tokenizer::from_bytes(json).map_err(|error| EmbedError::DamagedModel(error.to_string()))?;
        // Without this, a page that says "[SEP]" would end its own text.
        inner.set_encode_special_tokens(true);
        let mark = |name: &str| inner.token_to_id(name).ok_or_else(|| EmbedError::DamagedModel(format!("the tokenizer has no `{name}`")));
        let (first, last) = (mark("[CLS]")?, mark("[SEP]")?);
        let size = u32::try_from(inner.get_vocab_size(true)).unwrap_or(u32::MAX);
        let tokens: Vec<String> = (0..size).map(|id| inner.id_to_token(id).unwrap_or_default()).collect();
        let continues = tokens.iter().map(|token| token.starts_with("##")).collect();
        let ends_sentence = tokens.iter().map(|token| matches!(token.as_str(), "." | "!" | "?" | "。" | "！" | "？")).collect();
        Ok(Self { inner, first, last, continues, ends_sentence })
    }

    /// The tokens of a text, without marks.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub(crate) fn tokenise(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
        let encoding = self.inner.encode_fast(text, false).map_err(|error| EmbedError::Tokenizer(error.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Lays parts of one text out in sequences of at most `chunk` tokens, the two marks included.
    ///
    /// Each sequence is pooled as a whole into row `whole`, marks included, as the model was trained;
    /// with `parts_from`, part `i` is also pooled by itself into row `parts_from + i`. A part is cut
    /// only when it does not fit a chunk alone. Chunks are filled evenly, so that none is a leftover
    /// of three words without context. Parts without any token are in no sequence.
    pub(crate) fn lay_out(&self, parts: &[Vec<u32>], chunk: usize, whole: usize, parts_from: Option<usize>) -> Vec<Sequence> {
        let room = chunk.saturating_sub(2).max(1);
        let total: usize = parts.iter().map(Vec::len).sum();
        let even = total.div_ceil(total.div_ceil(room).max(1));
        let mut sequences = Vec::new();
        let mut open = Sequence::default();
        for (part, ids) in parts.iter().enumerate() {
            let mut rest = ids.as_slice();
            while !rest.is_empty() {
                let filled = open.ids.len().saturating_sub(1);
                if filled > 0 && (filled >= even || filled + rest.len() > room) {
                    sequences.push(self.close(std::mem::take(&mut open), whole));
                    continue;
                }
                let piece = if rest.len() <= room { rest.len() } else { self.cut(rest, even.min(room)) };
                self.add(&mut open, &rest[..piece], parts_from.map(|first| first + part));
                rest = &rest[piece..];
            }
        }
        if !open.ids.is_empty() {
            sequences.push(self.close(open, whole));
        }
        sequences
    }

    fn add(&self, open: &mut Sequence, ids: &[u32], row: Option<usize>) {
        if open.ids.is_empty() {
            open.ids.push(self.first);
        }
        let start = open.ids.len();
        open.ids.extend_from_slice(ids);
        if let Some(row) = row {
            open.pools.push(Pool { tokens: start..open.ids.len(), row });
        }
    }

    fn close(&self, mut open: Sequence, whole: usize) -> Sequence {
        open.ids.push(self.last);
        open.pools.push(Pool { tokens: 0..open.ids.len(), row: whole });
        open
    }

    /// How many of `ids`, at most `limit`, to take: up to the last end of a sentence in the second
    /// half, else up to the last whole word, else `limit`.
    fn cut(&self, ids: &[u32], limit: usize) -> usize {
        let flag = |flags: &[bool], id: u32| flags.get(id as usize).copied().unwrap_or(false);
        let sentence = (limit / 2 + 1..=limit).rev().find(|end| flag(&self.ends_sentence, ids[end - 1]));
        let word = || (1..=limit).rev().find(|end| !flag(&self.continues, ids[*end]));
        sentence.or_else(word).unwrap_or(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Ids: 0 and 1 the marks, 2 ends a sentence, 3 continues a word, others are words.
    fn tokenizer() -> TextTokenizer {
        let json = br###"{"model":{"type":"WordLevel","vocab":{"[CLS]":0,"[SEP]":1,".":2,"##s":3,"w":4},"unk_token":"w"}}"###;
        TextTokenizer::read(json).expect("a tokenizer")
    }

    #[test]
    fn a_text_is_cut_after_a_sentence_else_before_a_word() {
        let tokenizer = tokenizer();
        assert_eq!(tokenizer.cut(&[4, 4, 4, 2, 4, 4, 4], 6), 4);
        assert_eq!(tokenizer.cut(&[4, 4, 4, 4, 4, 3, 4], 5), 4);
        assert_eq!(tokenizer.cut(&[4, 3, 3, 3, 3, 3, 3], 5), 5);
    }

    #[test]
    fn a_tokenizer_without_marks_is_refused() {
        let json = br#"{"model":{"type":"WordLevel","vocab":{"w":0},"unk_token":"w"}}"#;
        assert!(matches!(TextTokenizer::read(json), Err(EmbedError::DamagedModel(_))));
        assert!(matches!(TextTokenizer::read(b"{"), Err(EmbedError::DamagedModel(_))));
    }

    proptest! {
        #[test]
        fn every_token_is_in_exactly_one_chunk(
            parts in prop::collection::vec(prop::collection::vec(2u32..6, 0..40), 0..12),
            chunk in 3usize..30,
        ) {
            let sequences = tokenizer().lay_out(&parts, chunk, 7, Some(100));
            let inner: Vec<u32> = sequences.iter().flat_map(|s| s.ids[1..s.ids.len() - 1].to_vec()).collect();
            prop_assert_eq!(inner, parts.concat());
            let mut by_part = vec![Vec::new(); parts.len()];
            for sequence in &sequences {
                prop_assert!(sequence.ids.len() <= chunk);
                for pool in &sequence.pools {
                    if pool.row != 7 {
                        by_part[pool.row - 100].extend_from_slice(&sequence.ids[pool.tokens.clone()]);
                    }
                }
                let whole = Pool { tokens: 0..sequence.ids.len(), row: 7 };
                prop_assert!(sequence.pools.contains(&whole));
            }
            prop_assert_eq!(by_part, parts);
        }
    }
}
