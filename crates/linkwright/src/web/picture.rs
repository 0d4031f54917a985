//! The link graph as an SVG, with the same as a table.

use super::App;
use super::address;
use super::frame::{Fault, Frame, NAVIGATION, render};
use super::stories::not_ready;
use crate::output::words::{short_url, thousands};
use askama::Template;
use axum::extract::State as Known;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use linkwright_engine::review::{Edge, EdgeKind, Node, Picture, Side};

/// Characters of a label.
const LABEL: usize = 26;

struct Dot {
    x: String,
    y: String,
    radius: String,
    class: String,
    view: String,
    title: String,
    label: String,
    label_x: String,
    label_y: String,
    anchor: &'static str,
}

struct Line {
    x1: String,
    y1: String,
    x2: String,
    y2: String,
    class: &'static str,
}

struct Row {
    view: String,
    title: String,
    cluster: String,
    inlinks: usize,
    outlinks: usize,
    orphan: bool,
    accepted: usize,
}

struct Legend {
    class: String,
    name: String,
    pages: usize,
    shown: usize,
}

struct Bridge {
    from: (String, String),
    to: (String, String),
}

#[derive(Template)]
#[template(path = "review/graph.html")]
struct Page {
    frame: Frame,
    navigation: &'static [(&'static str, &'static str)],
    waiting: Option<String>,
    said: String,
    width: f64,
    height: f64,
    lines: Vec<Line>,
    dots: Vec<Dot>,
    legend: Vec<Legend>,
    rows: Vec<Row>,
    bridges: Vec<Bridge>,
    accepted: usize,
}

/// `GET /graph`.
pub(crate) async fn show(Known(app): Known<App>, headers: HeaderMap) -> Result<Response, Fault> {
    let frame = Frame::new(&app, &headers, "/graph", "Link graph", "/graph".to_owned()).await?;
    let waiting = not_ready(&app);
    let picture = app.review.graph().await?;
    let page = match picture {
        Some(picture) => page(frame, &picture),
        None => Page {
            frame,
            navigation: NAVIGATION,
            waiting: waiting.or_else(|| Some("The graph is not there yet.".to_owned())),
            said: String::new(),
            width: 0.0,
            height: 0.0,
            lines: Vec::new(),
            dots: Vec::new(),
            legend: Vec::new(),
            rows: Vec::new(),
            bridges: Vec::new(),
            accepted: 0,
        },
    };
    Ok(render(StatusCode::OK, &page))
}

fn page(frame: Frame, picture: &Picture) -> Page {
    let accepted =
        |i: usize| picture.edges.iter().filter(|edge| edge.kind == EdgeKind::Accepted && (edge.to == i || edge.from == i)).count();
    let cluster = |node: &Node| node.cluster.and_then(|number| picture.clusters.get(number)).map_or("", |cluster| cluster.name.as_str());
    let row = |(i, node): (usize, &Node)| Row {
        view: address::page(&node.url),
        title: title(node, &frame.base),
        cluster: cluster(node).to_owned(),
        inlinks: node.inlinks,
        outlinks: node.outlinks,
        orphan: node.orphan,
        accepted: accepted(i),
    };
    let legend = picture.clusters.iter().enumerate().filter(|(_, cluster)| cluster.shown > 0).map(|(number, cluster)| Legend {
        class: format!("c{number}"),
        name: cluster.name.clone(),
        pages: cluster.pages,
        shown: cluster.shown,
    });
    let end = |(url, title): &(String, String)| {
        let title = if title.is_empty() { short_url(url, &frame.base) } else { title };
        (address::page(url), title.to_owned())
    };
    Page {
        navigation: NAVIGATION,
        waiting: None,
        said: said(picture),
        width: picture.width,
        height: picture.height,
        lines: picture.edges.iter().filter_map(|edge| line(picture, *edge)).collect(),
        dots: picture.nodes.iter().map(|node| dot(node, &frame.base)).collect(),
        legend: legend.collect(),
        rows: picture.nodes.iter().enumerate().map(row).collect(),
        bridges: picture.bridges.iter().map(|[from, to]| Bridge { from: end(from), to: end(to) }).collect(),
        accepted: picture.edges.iter().filter(|edge| edge.kind == EdgeKind::Accepted).count(),
        frame,
    }
}

/// What the picture shows and what it leaves out.
fn said(picture: &Picture) -> String {
    let shown = picture.nodes.len();
    let orphans = picture.nodes.iter().filter(|node| node.orphan).count();
    let of_orphans = picture.orphans.map_or_else(String::new, |all| format!(", among them {orphans} of {} orphans", thousands(all)));
    let left = picture.pages.saturating_sub(shown);
    let rest = if left == 0 {
        "No page is left out.".to_owned()
    } else {
        format!(
            "{} are left out: the ends of accepted links, orphans, bridges and the pages with the highest PageRank of each cluster come first.",
            thousands(left)
        )
    };
    format!(
        "The picture shows {shown} of {} pages that readers should find{of_orphans}, and the body links between them. {rest}",
        thousands(picture.pages)
    )
}

fn title(node: &Node, base: &str) -> String {
    if node.title.trim().is_empty() { short_url(&node.url, base).to_owned() } else { node.title.clone() }
}

fn dot(node: &Node, base: &str) -> Dot {
    let whole = title(node, base);
    let mut label: String = whole.chars().take(LABEL).collect();
    if whole.chars().count() > LABEL {
        label.push('…');
    }
    let left = node.label == Some(Side::Left);
    let beside = node.radius + 4.0;
    let orphan = if node.orphan { " orphan" } else { "" };
    Dot {
        x: format!("{:.1}", node.x),
        y: format!("{:.1}", node.y),
        radius: format!("{:.1}", node.radius),
        class: node.cluster.map_or_else(|| format!("none{orphan}"), |number| format!("c{number}{orphan}")),
        view: address::page(&node.url),
        title: format!("{whole}, {} inlinks in text{}", node.inlinks, if node.orphan { ", orphan" } else { "" }),
        label: if node.label.is_some() { label } else { String::new() },
        label_x: format!("{:.1}", if left { node.x - beside } else { node.x + beside }),
        label_y: format!("{:.1}", node.y + 4.0),
        anchor: if left { "end" } else { "start" },
    }
}

/// A link from the edge of one dot to the edge of the other.
fn line(picture: &Picture, edge: Edge) -> Option<Line> {
    let (from, to) = (picture.nodes.get(edge.from)?, picture.nodes.get(edge.to)?);
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = (dx * dx + dy * dy).sqrt().max(1.0);
    let at = |node: &Node, by: f64| (format!("{:.1}", node.x + dx / length * by), format!("{:.1}", node.y + dy / length * by));
    let ((x1, y1), (x2, y2)) = (at(from, from.radius), at(to, -to.radius - 2.0));
    let class = match edge.kind {
        EdgeKind::Body => "link",
        EdgeKind::Bridge => "bridge",
        EdgeKind::Accepted => "accepted",
    };
    Some(Line { x1, y1, x2, y2, class })
}
