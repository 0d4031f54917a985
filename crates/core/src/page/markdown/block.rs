//! Runs of text with their places → one block whose every byte leads back to the source.
//!
//! Invariant: within a run, segments follow each other in the source without a byte between them, so
//! the words from one segment to another of the same run are one stretch of the source.

use crate::page::{Block, BlockKind, Inert, Link, Segment};
use crate::span::Span;

/// A block that is still being read.
pub(super) struct OpenBlock<'a> {
    source: &'a str,
    kind: BlockKind,
    text: String,
    segments: Vec<Segment>,
    run: u32,
    blank: Option<Blank>,
    extent: Span,
}

/// White space that will be one blank if more text follows.
#[derive(Clone, Copy)]
struct Blank {
    span: Span,
    run: u32,
    inert: Option<Inert>,
}

impl<'a> OpenBlock<'a> {
    /// An empty block that begins at `extent`.
    pub(super) fn new(source: &'a str, kind: BlockKind, extent: Span) -> Self {
        Self { source, kind, text: String::new(), segments: Vec::new(), run: 0, blank: None, extent }
    }

    /// Length of its text so far, without a blank that is pending.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Its text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether its last text ends at this place of the source.
    pub(super) fn ends_at(&self, source: usize) -> bool {
        self.segments.last().is_some_and(|last| last.source.end == source)
    }

    /// Makes the block's extent reach to `end`.
    pub(super) fn extend_to(&mut self, end: usize) {
        self.extent.end = self.extent.end.max(end);
    }

    /// Markup stands here: what follows is another run.
    pub(super) fn break_run(&mut self) {
        self.run += 1;
    }

    /// A break of the line: a blank, and the same run if only white space stands in between.
    pub(super) fn push_blank(&mut self, span: Span, inert: Option<Inert>) {
        if !self.text.is_empty() && self.blank.is_none() {
            self.blank = Some(Blank { span, run: self.run, inert });
        }
    }

    /// Text that is written in the source as it is. Gives where it begins in the block's text.
    pub(super) fn push_verbatim(&mut self, span: Span, inert: Option<Inert>) -> Option<usize> {
        let source = self.source;
        let mut first = None;
        let mut at = span.start;
        while at < span.end {
            let rest = &source[at..span.end];
            let white = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_whitespace()).len();
            if white > 0 {
                self.push_blank(Span::new(at, at + white), inert);
                at += white;
                continue;
            }
            let length = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
            let start = self.push_word(&rest[..length], Span::new(at, at + length), true, inert);
            first = first.or(Some(start));
            at += length;
        }
        first
    }

    /// Text that is written otherwise, such as a character reference or an escape, or that must be read as a whole.
    pub(super) fn push_written(&mut self, text: &str, span: Span, inert: Option<Inert>) -> Option<usize> {
        let collapsed = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        if collapsed.is_empty() {
            if !text.is_empty() {
                self.push_blank(span, inert);
            }
            return None;
        }
        Some(self.push_word(&collapsed, span, false, inert))
    }

    fn push_word(&mut self, word: &str, source: Span, verbatim: bool, inert: Option<Inert>) -> usize {
        self.settle_blank(source.start);
        let touches = self.segments.last().is_none_or(|last| last.run != self.run || last.source.end == source.start);
        if !touches {
            self.run += 1;
        }
        self.push_segment(word, source, verbatim, inert)
    }

    /// Writes the pending blank, now that text follows at `next`.
    fn settle_blank(&mut self, next: usize) {
        let Some(blank) = self.blank.take() else { return };
        let from = self.segments.last().map_or(blank.span.start, |last| last.source.end);
        let until = if blank.run == self.run { next } else { blank.span.end };
        let gap = Span { start: from, end: until };
        if from < until && self.source.get(gap.range()).is_some_and(is_one_break) {
            let run = std::mem::replace(&mut self.run, blank.run);
            let written = self.source[gap.range()].to_owned();
            self.push_segment(" ", gap, written == " ", blank.inert);
            self.run = run;
        } else {
            self.text.push(' ');
            if blank.run == self.run {
                self.run += 1;
            }
        }
    }

    fn push_segment(&mut self, text: &str, source: Span, verbatim: bool, inert: Option<Inert>) -> usize {
        let start = self.text.len();
        self.text.push_str(text);
        let end = self.text.len();
        match self.segments.last_mut() {
            Some(last)
                if verbatim
                    && last.verbatim
                    && last.run == self.run
                    && last.inert == inert
                    && last.source.end == source.start
                    && last.text.end == start =>
            {
                last.text.end = end;
                last.source.end = source.end;
            }
            _ => self.segments.push(Segment { text: Span::new(start, end), source, verbatim, run: self.run, inert }),
        }
        start
    }

    /// Marks a stretch of the text as unable to carry a link.
    pub(super) fn mark(&mut self, span: Span, inert: Inert) {
        let mut out = Vec::with_capacity(self.segments.len() + 2);
        for segment in self.segments.drain(..) {
            if !segment.text.overlaps(span) || segment.inert.is_some() {
                out.push(segment);
            } else if segment.verbatim {
                out.extend(cut(segment, span, inert));
            } else {
                out.push(Segment { inert: Some(inert), ..segment });
            }
        }
        self.segments = out;
    }

    /// Source range of a stretch of the text, where it is covered by segments.
    pub(super) fn source_of(&self, span: Span) -> Option<Span> {
        let mut touched = self.segments.iter().filter(|s| s.text.overlaps(span));
        let first = touched.next()?;
        let last = touched.next_back().unwrap_or(first);
        let start = if first.verbatim { first.source.start + span.start.saturating_sub(first.text.start) } else { first.source.start };
        let end = if last.verbatim { last.source.end - last.text.end.saturating_sub(span.end) } else { last.source.end };
        Some(Span::new(start, end.max(start)))
    }

    /// The stretches of text that can carry a link, as ranges of the block's text.
    pub(super) fn open_stretches(&self) -> Vec<Span> {
        let mut out: Vec<Span> = Vec::new();
        for segment in self.segments.iter().filter(|s| s.inert.is_none()) {
            match out.last_mut() {
                Some(last) if last.end == segment.text.start => last.end = segment.text.end,
                _ => out.push(segment.text),
            }
        }
        out
    }

    /// The finished block, or `None` where there was no text. `links` are given their places.
    pub(super) fn finish(self, index: usize, section: Option<String>, shape: u64, links: &mut [Link]) -> Option<Block> {
        if self.text.is_empty() {
            return None;
        }
        for (block, _) in links.iter_mut().filter_map(|l| l.place.as_mut()) {
            *block = index;
        }
        let extent = match (self.segments.first(), self.segments.last()) {
            (Some(first), Some(last)) => Span::new(self.extent.start.min(first.source.start), self.extent.end.max(last.source.end)),
            _ => self.extent,
        };
        Some(Block { kind: self.kind, main: true, text: self.text, segments: self.segments, section, source: extent, shape })
    }
}

/// White space with at most one line break, so that no paragraph ends in it.
fn is_one_break(gap: &str) -> bool {
    gap.bytes().all(|b| b.is_ascii_whitespace()) && gap.bytes().filter(|b| *b == b'\n').count() <= 1
}

fn cut(segment: Segment, span: Span, inert: Inert) -> Vec<Segment> {
    let middle = Span::new(segment.text.start.max(span.start), segment.text.end.min(span.end));
    let part = |from: usize, to: usize, inert: Option<Inert>| Segment {
        text: Span::new(from, to),
        source: Span::new(segment.source.start + from - segment.text.start, segment.source.start + to - segment.text.start),
        inert,
        ..segment
    };
    let parts = [
        part(segment.text.start, middle.start, None),
        part(middle.start, middle.end, Some(inert)),
        part(middle.end, segment.text.end, None),
    ];
    parts.into_iter().filter(|p| !p.text.is_empty()).collect()
}
