//! Names of elements, and the groups that decide where elements end and what their text is.

macro_rules! tags {
    ($($variant:ident $name:literal,)*) => {
        /// An element's name. Names that make no difference here are `Other`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Tag {
            $($variant,)*
            /// Any other name, custom elements among them.
            Other,
        }

        impl Tag {
            /// The tag of a name in any letter case.
            pub(crate) fn of(name: &str) -> Self {
                let mut lower = [0u8; 12];
                let Some(lower) = lower.get_mut(..name.len()) else { return Self::Other };
                lower.copy_from_slice(name.as_bytes());
                lower.make_ascii_lowercase();
                match &*lower {
                    $(bytes if bytes == $name.as_bytes() => Self::$variant,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

tags! {
    P "p", A "a", Li "li", Div "div", Span "span", Strong "strong", Em "em", B "b", I "i", Code "code", Br "br",
    Td "td", Tr "tr", Th "th", Ul "ul", Ol "ol", Img "img", H1 "h1", H2 "h2", H3 "h3", H4 "h4", H5 "h5", H6 "h6",
    Script "script", Style "style", Link "link", Meta "meta", Title "title", Base "base", Html "html", Head "head", Body "body",
    Address "address", Applet "applet", Area "area", Article "article", Aside "aside", Audio "audio", Blockquote "blockquote",
    Basefont "basefont", Bgsound "bgsound", Big "big", Button "button", Canvas "canvas", Caption "caption", Center "center", Cite "cite",
    Col "col", Colgroup "colgroup", Datalist "datalist", Dd "dd", Del "del", Details "details", Dfn "dfn", Dialog "dialog", Dir "dir",
    Dl "dl", Dt "dt", Embed "embed", Fieldset "fieldset", Figcaption "figcaption", Figure "figure", Font "font", Footer "footer",
    Form "form", Frame "frame", Frameset "frameset", Header "header", Hgroup "hgroup", Hr "hr", Iframe "iframe", Input "input", Ins "ins",
    Kbd "kbd", Keygen "keygen", Label "label", Legend "legend", Listing "listing", Main "main", Map "map", Mark "mark", Marquee "marquee",
    Math "math", Menu "menu", Nav "nav", Nobr "nobr", Noembed "noembed", Noframes "noframes", Noscript "noscript", Object "object",
    Optgroup "optgroup", Option "option", Output "output", Param "param", Picture "picture", Plaintext "plaintext", Pre "pre", Q "q",
    Rp "rp", Rt "rt", Ruby "ruby", S "s", Samp "samp", Search "search", Section "section", Select "select", Small "small",
    Source "source", Strike "strike", Sub "sub", Summary "summary", Sup "sup", Svg "svg", Table "table", Tbody "tbody",
    Template "template", Textarea "textarea", Tfoot "tfoot", Thead "thead", Time "time", Track "track", Tt "tt", U "u", Var "var",
    Video "video", Wbr "wbr", Xmp "xmp", AmpAd "amp-ad",
}

impl Tag {
    /// Elements that never have content.
    pub(crate) fn is_void(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Area | Base
                | Basefont
                | Bgsound
                | Br
                | Col
                | Embed
                | Frame
                | Hr
                | Img
                | Input
                | Keygen
                | Link
                | Meta
                | Param
                | Source
                | Track
                | Wbr
        )
    }

    /// Elements whose content is text up to their end tag.
    pub(crate) fn is_raw_text(self) -> bool {
        use Tag::*;
        matches!(self, Script | Style | Textarea | Title | Xmp | Iframe | Noembed | Noframes)
    }

    /// Elements that may stand in the head without ending it.
    pub(crate) fn belongs_in_head(self) -> bool {
        use Tag::*;
        matches!(self, Script | Style | Title | Base | Link | Meta | Noscript | Template | Basefont | Bgsound)
    }

    /// Elements whose start ends an open paragraph.
    pub(crate) fn ends_paragraph(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Address
                | Article
                | Aside
                | Blockquote
                | Center
                | Details
                | Dialog
                | Dir
                | Div
                | Dl
                | Dd
                | Dt
                | Fieldset
                | Figcaption
                | Figure
                | Footer
                | Form
                | Header
                | Hgroup
                | Hr
                | Li
                | Listing
                | Main
                | Menu
                | Nav
                | Ol
                | P
                | Plaintext
                | Pre
                | Search
                | Section
                | Summary
                | Table
                | Ul
                | Xmp
        ) || self.is_heading()
    }

    /// Elements that break a line of text: their text is no part of the block around them.
    pub(crate) fn is_block(self) -> bool {
        use Tag::*;
        self.ends_paragraph()
            || matches!(
                self,
                Body | Caption
                    | Html
                    | Head
                    | Legend
                    | Optgroup
                    | Option
                    | Select
                    | Tbody
                    | Td
                    | Tfoot
                    | Th
                    | Thead
                    | Tr
                    | Iframe
                    | Video
                    | Audio
                    | Textarea
                    | Frameset
                    | Noframes
            )
    }

    /// `h1` to `h6`.
    pub(crate) fn is_heading(self) -> bool {
        self.heading_level().is_some()
    }

    /// 1 to 6 for `h1` to `h6`.
    pub(crate) fn heading_level(self) -> Option<u8> {
        match self {
            Tag::H1 => Some(1),
            Tag::H2 => Some(2),
            Tag::H3 => Some(3),
            Tag::H4 => Some(4),
            Tag::H5 => Some(5),
            Tag::H6 => Some(6),
            _ => None,
        }
    }

    /// Elements that no end tag of an inner element reaches across.
    pub(crate) fn is_scope(self) -> bool {
        use Tag::*;
        matches!(self, Applet | Caption | Html | Table | Td | Th | Marquee | Object | Template | Svg | Math)
    }

    /// Elements that a stray inline end tag does not reach across.
    pub(crate) fn is_special(self) -> bool {
        use Tag::*;
        self.is_block() || self.is_scope() || matches!(self, Button | Colgroup | Noscript)
    }

    /// Elements whose text is not prose of the page and is left out.
    pub(crate) fn is_skipped(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Script
                | Style
                | Textarea
                | Svg
                | Math
                | Noscript
                | Template
                | Iframe
                | Noembed
                | Noframes
                | Title
                | Head
                | Select
                | Datalist
                | Canvas
                | Object
                | Applet
                | Audio
                | Video
                | Rp
                | AmpAd
        )
    }

    /// Elements that are taken up again after a block that cut them off has ended, where it matters
    /// for what their text is.
    pub(crate) fn is_taken_up_again(self) -> bool {
        matches!(self, Tag::A | Tag::Code | Tag::Tt)
    }
}
