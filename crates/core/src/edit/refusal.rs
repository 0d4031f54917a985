//! Why an edit was not made: a stable code and a sentence for each reason.

use crate::page::Inert;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a link was not inserted. A refusal is an expected outcome: the page stays as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The place lies outside the source, is empty, or cuts a character.
    #[error("the place is not a stretch of the page's source")]
    NoSuchPlace,
    /// The place does not fall on the bounds of visible text.
    #[error("the place does not begin and end in visible text of the page")]
    NotInText,
    /// Other words stand there now.
    #[error("the words at the place are not the anchor")]
    AnchorNotAtPlace,
    /// The anchor begins or ends with white space, or has no words.
    #[error("the anchor begins or ends with white space")]
    AnchorUntrimmed,
    /// Markup or the end of a block stands inside the anchor.
    #[error("markup stands between the words of the anchor")]
    CrossesMarkup,
    /// The words stand where no link may be written.
    #[error("the words stand where a link cannot be written: {}", place_name(*.0))]
    NotLinkable(Inert),
    /// An element around the place forbids a link.
    #[error("the element around the words cannot hold a link")]
    ForbiddenElement,
    /// Inside a template tag, an expression or a component.
    #[error("the words stand inside a template tag or a component")]
    InsideTemplate,
    /// An address is glued to the words.
    #[error("the words touch an address, which many generators make a link of its own")]
    BesideAddress,
    /// Two places share bytes.
    #[error("two links would overlap")]
    PlacesOverlap,
    /// The address is empty, no web address, or holds what cannot be written.
    #[error("the address cannot be written as a link")]
    UnusableHref,
    /// Markdown has no notation for the attributes asked for.
    #[error("the page's notation cannot carry the attributes asked for")]
    AttributesNotWritable,
    /// The check saw fewer or other new links than were written.
    #[error("an independent parser does not see exactly the new link")]
    LinkCountWrong,
    /// The check saw other words in the link.
    #[error("an independent parser sees other words in the link")]
    AnchorChanged,
    /// The check saw other text.
    #[error("the text of the page would change")]
    TextChanged,
    /// The check saw other elements or attributes.
    #[error("the structure of the page would change")]
    StructureChanged,
    /// The sentence is not in the page any more.
    #[error("the sentence is not in the page any more")]
    PassageGone,
    /// The sentence stands in the page more than once.
    #[error("the sentence stands in the page more than once, so that nothing says which one is meant")]
    PassageAmbiguous,
    /// The edit does not fit the text it is applied to.
    #[error("the edit does not fit this text")]
    EditDoesNotFit,
    /// The page's encoding cannot carry the edit, or its bytes do not match the decoded text.
    #[error("the edit cannot be written back in the page's encoding byte for byte")]
    EncodingNotExact,
}

impl Refusal {
    /// A stable name for counts, columns and logs.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NoSuchPlace => "no_such_place",
            Self::NotInText => "not_in_text",
            Self::AnchorNotAtPlace => "anchor_not_at_place",
            Self::AnchorUntrimmed => "anchor_untrimmed",
            Self::CrossesMarkup => "crosses_markup",
            Self::NotLinkable(_) => "not_linkable",
            Self::ForbiddenElement => "forbidden_element",
            Self::InsideTemplate => "inside_template",
            Self::BesideAddress => "beside_address",
            Self::PlacesOverlap => "places_overlap",
            Self::UnusableHref => "unusable_href",
            Self::AttributesNotWritable => "attributes_not_writable",
            Self::LinkCountWrong => "link_count_wrong",
            Self::AnchorChanged => "anchor_changed",
            Self::TextChanged => "text_changed",
            Self::StructureChanged => "structure_changed",
            Self::PassageGone => "passage_gone",
            Self::PassageAmbiguous => "passage_ambiguous",
            Self::EditDoesNotFit => "edit_does_not_fit",
            Self::EncodingNotExact => "encoding_not_exact",
        }
    }
}

fn place_name(inert: Inert) -> &'static str {
    match inert {
        Inert::Link => "inside another link",
        Inert::Code => "in code",
        Inert::Heading => "in a heading",
        Inert::Form => "in a form",
        Inert::Figure => "in a figure",
        Inert::TableHeader => "in a table header",
        Inert::Quotation => "in somebody's quotation",
        Inert::Template => "in a template tag or raw HTML",
        Inert::Excluded => "in excluded markup",
    }
}
