//! Page builders: plugins that keep a page in a form of their own and write the text of WordPress from it.

use serde_json::Value;
use std::fmt;

/// A page builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builder(&'static str);

impl fmt::Display for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Name, marks in the text that the editor keeps, marks in the page that visitors get, and names of its metadata.
struct Mark {
    name: &'static str,
    raw: &'static [&'static str],
    rendered: &'static [&'static str],
    meta: &'static [&'static str],
}

/// Shortcodes and blocks of builders, class names that they give their elements.
const MARKS: &[Mark] = &[
    Mark {
        name: "Elementor",
        raw: &["<!-- wp:elementor/"],
        rendered: &["data-elementor-type=", "class=\"elementor elementor-", "elementor-element-"],
        meta: &["_elementor_edit_mode", "_elementor_data"],
    },
    Mark { name: "Divi", raw: &["[et_pb_", "<!-- wp:divi/"], rendered: &["class=\"et_pb_section"], meta: &["_et_pb_use_builder"] },
    Mark { name: "WPBakery", raw: &["[vc_row", "[vc_column"], rendered: &["vc_row wpb_row", "class=\"wpb-content-wrapper"], meta: &[] },
    Mark { name: "Beaver Builder", raw: &["<!-- wp:fl-builder/"], rendered: &["fl-builder-content"], meta: &["_fl_builder_enabled"] },
    Mark {
        name: "Oxygen",
        raw: &["[ct_section", "[ct_div", "[oxygen "],
        rendered: &["class=\"ct-section"],
        meta: &["ct_builder_shortcodes"],
    },
    Mark { name: "Bricks", raw: &[], rendered: &["class=\"brxe-", "id=\"brxe-"], meta: &["_bricks_page_content_2"] },
    Mark { name: "Brizy", raw: &["<!-- wp:brizy"], rendered: &["brz-root__container", "class=\"brz "], meta: &["brizy"] },
    Mark { name: "Avada", raw: &["[fusion_builder_"], rendered: &["fusion-builder-row"], meta: &[] },
    Mark { name: "SiteOrigin", raw: &["<!-- wp:siteorigin-panels/"], rendered: &["class=\"panel-layout\""], meta: &["panels_data"] },
    Mark { name: "Thrive Architect", raw: &[], rendered: &["class=\"thrv_wrapper", "id=\"tve_editor\""], meta: &["tve_updated_post"] },
];

impl Builder {
    /// The builder that keeps a page, recognised by its text, by what visitors get, by its metadata or its template.
    #[must_use]
    pub(super) fn of(raw: &str, rendered: &str, meta: &Value, template: &str) -> Option<Self> {
        let has_meta = |name: &&str| match &meta[*name] {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty() && text != "off",
            Value::Array(items) => !items.is_empty(),
            _ => true,
        };
        let keeps = |mark: &&Mark| {
            mark.raw.iter().any(|sign| raw.contains(sign))
                || mark.rendered.iter().any(|sign| rendered.contains(sign))
                || mark.meta.iter().any(has_meta)
        };
        let by_template = || template.starts_with("elementor_").then_some(Self("Elementor"));
        MARKS.iter().find(keeps).map(|mark| Self(mark.name)).or_else(by_template)
    }
}
