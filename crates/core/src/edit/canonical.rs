//! A document → one flat sequence of bytes that two documents can be compared by.
//!
//! html5ever builds the tree, as a browser would; it is walked without recursion and written down as
//! elements with their attributes, text and comments. The signs between them are bytes that never
//! occur in UTF-8, so no text can pass for structure.

use dom_query::{Document, NodeData, NodeId};

/// Begins an element.
pub(super) const OPEN: u8 = 0xFF;
/// Ends the list of attributes.
pub(super) const OPENED: u8 = 0xFE;
/// Before the name of an attribute.
pub(super) const NAME: u8 = 0xFD;
/// Before the value of an attribute.
pub(super) const VALUE: u8 = 0xFC;
/// Ends an element.
pub(super) const CLOSE: u8 = 0xFB;
/// Around comments, declarations and instructions.
const OTHER: u8 = 0xFA;

/// The smallest of the signs: every byte from here on is one.
const FIRST_SIGN: u8 = 0xF8;

/// Whether a byte is a sign and not text.
pub(super) fn is_sign(byte: u8) -> bool {
    byte >= FIRST_SIGN
}

enum Step {
    Enter(NodeId),
    Leave,
}

/// The flat form of an HTML document.
pub(super) fn of_html(html: &str) -> Vec<u8> {
    let document = Document::from(html);
    let mut out = Vec::with_capacity(html.len() + html.len() / 4);
    let mut steps = vec![Step::Enter(document.root().id)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Leave => out.push(CLOSE),
            Step::Enter(id) => {
                let content = document.tree.query_node(&id, |node| write_node(&node.data, &mut out)).flatten();
                let is_element = content.is_some();
                if is_element {
                    steps.push(Step::Leave);
                }
                steps.extend(document.tree.child_ids_of_it(&id, true).map(Step::Enter));
                steps.extend(content.flatten().map(Step::Enter));
            }
        }
    }
    out
}

/// Writes a node; for an element gives the node that holds its template contents, if it has any.
fn write_node(data: &NodeData, out: &mut Vec<u8>) -> Option<Option<NodeId>> {
    match data {
        NodeData::Document | NodeData::Fragment => None,
        NodeData::Text { contents } => {
            out.extend_from_slice(contents.as_bytes());
            None
        }
        NodeData::Comment { contents } => other(out, &["!", contents]),
        NodeData::Doctype { name, public_id, system_id } => other(out, &["doctype", name, public_id, system_id]),
        NodeData::ProcessingInstruction { target, contents } => other(out, &["?", target, contents]),
        NodeData::Element(element) => {
            out.push(OPEN);
            out.extend_from_slice(element.name.local.as_bytes());
            if element.name.ns.as_bytes() != b"http://www.w3.org/1999/xhtml" {
                out.push(b'|');
                out.extend_from_slice(element.name.ns.as_bytes());
            }
            for attribute in &element.attrs {
                out.push(NAME);
                out.extend_from_slice(attribute.name.local.as_bytes());
                out.push(VALUE);
                out.extend_from_slice(attribute.value.as_bytes());
            }
            out.push(OPENED);
            Some(element.template_contents)
        }
    }
}

fn other(out: &mut Vec<u8>, parts: &[&str]) -> Option<Option<NodeId>> {
    for part in parts {
        out.push(OTHER);
        out.extend_from_slice(part.as_bytes());
    }
    out.push(OTHER);
    None
}
