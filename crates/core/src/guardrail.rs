//! Rules that remove or flag a candidate. Each is one row of the table: stable code, name, why it
//! exists, its default and the setting that changes it, and what it counts.
//!
//! Checks are pure: they name every rule that applies, in the order of their codes.

use crate::plan::GuardrailCount;
use std::collections::BTreeMap;

pub mod pages;

macro_rules! guardrails {
    ($($id:ident $code:literal $unit:literal $name:literal $why:literal $setting:literal;)*) => {
        /// A rule that removes or flags a candidate.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Guardrail { $(#[doc = $why] $id),* }

        /// Every guardrail in the order of their codes.
        pub const ALL: &[Guardrail] = &[$(Guardrail::$id),*];

        impl Guardrail {
            /// Stable code.
            #[must_use]
            pub fn code(self) -> &'static str { match self { $(Self::$id => $code),* } }
            /// Short name.
            #[must_use]
            pub fn name(self) -> &'static str { match self { $(Self::$id => $name),* } }
            /// Why it exists.
            #[must_use]
            pub fn why(self) -> &'static str { match self { $(Self::$id => $why),* } }
            /// Default, and how to change it.
            #[must_use]
            pub fn setting(self) -> &'static str { match self { $(Self::$id => $setting),* } }
            /// What it counts: `pages`, `pairs` or `places`.
            #[must_use]
            pub fn unit(self) -> &'static str { match self { $(Self::$id => $unit),* } }
        }
    };
}

guardrails! {
    NotOk "P01" "pages" "not 200" "a page that was not served cannot carry or receive a link" "always on";
    Redirects "P02" "pages" "redirect" "links lead to where the redirect ends, never through it" "always on";
    NoIndex "P03" "pages" "noindex" "a page kept out of search neither passes on nor needs internal links" "off: pages.noindex_as_source, pages.noindex_as_target";
    CanonicalElsewhere "P04" "pages" "canonical elsewhere" "the page it names as canonical stands for it" "always on";
    NotHtml "P05" "pages" "not HTML" "media files and feeds are no pages" "always on";
    DuplicateUrl "P06" "pages" "duplicate of another URL" "one page under two addresses would link to itself" "always on";
    ThinSource "P07" "pages" "thin source" "too little text to place a link in" "200 words: pages.min_words_source";
    ThinTarget "P08" "pages" "thin target" "too little text to be worth a reader's click" "200 words: pages.min_words_target";
    ExcludedSource "P09" "pages" "source excluded by pattern" "your settings leave it out" "none: pages.exclude_source";
    ExcludedTarget "P10" "pages" "target excluded by pattern" "your settings leave it out" "none: pages.exclude_target";
    Archive "P11" "pages" "archive page" "tag, category, author, pagination and search pages list other pages and resemble all of them" "off: pages.archives, pages.archive_as_source, pages.archive_as_target";
    Home "P12" "pages" "home page as target" "every page links home already" "off: pages.home_as_target";
    Empty "P13" "pages" "empty or failed extraction" "no main text was found, so nothing can be said about the page" "always on";
    Draft "P14" "pages" "draft" "readers cannot open a page that is not published" "always on";
    Login "P15" "pages" "login page" "a form to sign in says nothing about the page behind it" "always on";
    OldNews "P16" "pages" "dated news" "old news is no longer what a reader looks for" "730 days: dates.news, dates.news_max_age_days, dates.max_age_days";
    UnknownLanguage "P17" "pages" "language the model does not know" "its vectors would be noise; words and links alone are used (flag)" "model.name";
    SamePage "R01" "pairs" "self" "a page does not link to itself" "always on";
    AlreadyLinked "R02" "pairs" "already linked in the body" "a second link to the same page adds nothing" "always on";
    TemplateLinked "R03" "pairs" "linked by a template" "a menu or widget of the source leads there already (flag)" "flag: relevance.template_linked";
    Rejected "R04" "pairs" "rejected before" "a person said no, and neither page has changed since" "on: relevance.remember_rejections";
    BelowFloor "R05" "pairs" "below the floor" "too little speaks for the pair" "set on the site: relevance.floor";
    IntentDirection "R06" "pairs" "intent direction" "your settings forbid links in this direction" "none: intent.forbid";
    OutsideSection "R07" "pairs" "outside the section" "your settings keep links within a section" "off: relevance.same_section";
    OtherLanguage "R08" "pairs" "other language" "a reader of one language is not led into another" "off: pages.cross_language";
    Translation "R09" "pairs" "translation of the source" "the same page in other words" "always on";
    Overlap "R10" "pairs" "near duplicate of the source" "pages too alike compete with each other; they are reported as overlaps, not linked" "0.8 shared text, 0.9 similarity: relevance.near_duplicate, relevance.cannibalization";
    GenericAnchor "A01" "places" "generic anchor" "words such as `click here` say nothing about the target" "built-in list: anchors.generic adds to it";
    TooShort "A02" "places" "anchor too short" "one word is rarely specific; one that the site itself uses as a link to the target may pass" "2 words, 2 characters in unspaced scripts: anchors.min_words, anchors.min_chars";
    TooLong "A03" "places" "anchor too long" "a long anchor hides what matters in it" "6 words, 20 characters in unspaced scripts: anchors.max_words, anchors.max_chars";
    FunctionWordEdge "A04" "places" "function word at the edge" "`the role of` is a torn phrase" "off: anchors.function_word_edges";
    CrossesSentence "A05" "places" "crosses a sentence" "an anchor is part of one thought" "always on";
    CrossesMarkup "A06" "places" "crosses markup" "a link cannot begin inside one inline element and end outside of it" "always on";
    InHeading "A07" "places" "inside a heading" "headings are for orientation" "always on";
    InLink "A08" "places" "inside a link" "a link in a link is no HTML, and an existing anchor is never changed" "always on";
    InCode "A09" "places" "inside code" "code is copied, not followed" "always on";
    InForm "A10" "places" "inside a button or form" "a control does something else when it is clicked" "always on";
    InFigure "A11" "places" "inside a caption or figure" "captions belong to their picture" "always on";
    InTableHeader "A12" "places" "inside a table header" "headers name columns" "always on";
    InQuotation "A13" "places" "inside a quotation" "the words of others are not to be changed" "always on";
    InExcluded "A14" "places" "inside an excluded part" "a shortcode, a template tag, or a part your settings exclude" "placement.never_in, placement.blocks, site.exclude_selectors";
    FirstWords "A15" "places" "first words of the first paragraph" "the opening keeps its reader" "10 words: placement.skip_first_words";
    NeverLink "A16" "places" "never linked" "your settings forbid these words" "none: anchors.never_link";
    Preflight "A17" "places" "refused by the preflight" "inserting it would have changed more than the one link" "always on";
    Torn "A18" "places" "torn words" "half of a bracket, a quotation or a title reads like a mistake" "always on";
    SecondInParagraph "S01" "places" "second new link in a paragraph" "two links side by side take readers from each other" "on: placement.one_per_paragraph";
    TooClose "S02" "places" "too close to another new link" "links are spread over the text" "100 words: placement.min_distance_words";
    PageCap "S03" "pairs" "enough new links for the page" "a page changes gently" "3: caps.per_page";
    Density "S04" "pairs" "enough links for the text" "too many links make none of them matter" "5 per 1,000 words with the existing ones: caps.per_1000_words";
    TargetCap "S05" "pairs" "enough new inlinks for the target" "a few hubs must not take everything" "10: caps.per_target";
    AnchorRepeated "S06" "places" "same anchor too often" "the same words on every page look and are mechanical" "3 for a target: caps.per_anchor";
    AnchorShare "S07" "places" "anchor share" "no anchor makes up most of a target's anchors" "half, from the fourth on: caps.anchor_share";
    TargetTwice "S08" "pairs" "target twice on one page" "one link to a target is enough" "always on";
}

/// How often each guardrail removed or flagged something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    removed: BTreeMap<Guardrail, u64>,
    flagged: BTreeMap<Guardrail, u64>,
}

impl Counts {
    /// Counts a removal.
    pub fn removed(&mut self, guardrail: Guardrail) {
        *self.removed.entry(guardrail).or_default() += 1;
    }

    /// Counts a flag.
    pub fn flagged(&mut self, guardrail: Guardrail) {
        *self.flagged.entry(guardrail).or_default() += 1;
    }

    /// Adds the counts of another part of the run.
    pub fn add(&mut self, other: &Counts) {
        other.removed.iter().for_each(|(g, n)| *self.removed.entry(*g).or_default() += n);
        other.flagged.iter().for_each(|(g, n)| *self.flagged.entry(*g).or_default() += n);
    }

    /// The guardrail with the most removals among those counted.
    #[must_use]
    pub fn most(&self) -> Option<Guardrail> {
        self.removed.iter().max_by_key(|(g, n)| (**n, std::cmp::Reverse(**g))).map(|(g, _)| *g)
    }

    /// A row for every guardrail, whether it did anything or not.
    #[must_use]
    pub fn table(&self) -> Vec<GuardrailCount> {
        let row = |g: &Guardrail| GuardrailCount {
            code: g.code().to_owned(),
            name: g.name().to_owned(),
            why: g.why().to_owned(),
            setting: g.setting().to_owned(),
            unit: g.unit().to_owned(),
            removed: self.removed.get(g).copied().unwrap_or(0),
            flagged: self.flagged.get(g).copied().unwrap_or(0),
        };
        ALL.iter().map(row).collect()
    }
}

/// The guardrail with this code.
#[must_use]
pub fn by_code(code: &str) -> Option<Guardrail> {
    ALL.iter().copied().find(|g| g.code() == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_unique_and_sorted_within_their_letter() {
        let codes: Vec<&str> = ALL.iter().map(|g| g.code()).collect();
        assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len());
        for pair in codes.windows(2).filter(|p| p[0].as_bytes()[0] == p[1].as_bytes()[0]) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
        assert_eq!(by_code("P03"), Some(Guardrail::NoIndex));
    }

    #[test]
    fn the_table_names_every_rule_even_when_it_did_nothing() {
        let mut counts = Counts::default();
        counts.removed(Guardrail::InCode);
        counts.flagged(Guardrail::TemplateLinked);
        let table = counts.table();
        assert_eq!(table.len(), ALL.len());
        assert_eq!(table.iter().map(|r| r.removed + r.flagged).sum::<u64>(), 2);
        assert_eq!(counts.most(), Some(Guardrail::InCode));
    }
}
