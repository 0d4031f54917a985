
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const tools = document.querySelector(".tools");
  if (tools) plan();
  document.querySelectorAll("table.sortable").forEach(sortable);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));

  // Search, filters and order of the plan. Works on the elements themselves; their text is read once, when first needed.
  function plan() {
    const list = byId("groups");
    const groups = [...list.children].map((element, place) => ({
      element, place,
      rows: [...element.querySelectorAll("article")],
      title: element.querySelector(".title").textContent,
      url: element.dataset.u,
      count: Number(element.dataset.n),
    }));
    const controls = { search: byId("search"), least: byId("least"), orphans: byId("only-orphans"), flags: byId("no-flags") };
    let texts = null;
    let timer = 0;

    function read() {
      texts = groups.map((group) => ({
        head: group.element.querySelector("summary").textContent.toLowerCase(),
        rows: group.rows.map((row) => row.textContent.toLowerCase()),
      }));
    }

    function apply() {
      const terms = controls.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const least = Number(controls.least.value) || 0;
      if (terms.length && !texts) read();
      let links = 0;
      let pages = 0;
      groups.forEach((group, g) => {
        let shown = 0;
        group.rows.forEach((row, r) => {
          const fits = Number(row.dataset.s) >= least
            && (!controls.orphans.checked || "o" in row.dataset)
            && (!controls.flags.checked || !("f" in row.dataset))
            && terms.every((term) => texts[g].head.includes(term) || texts[g].rows[r].includes(term));
          row.hidden = !fits;
          if (fits) shown += 1;
        });
        group.element.hidden = shown === 0;
        links += shown;
        if (shown) pages += 1;
      });
      const amount = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
      byId("shown").textContent = `${amount(links, "link", "links")} on ${amount(pages, "page", "pages")}`;
      byId("none").hidden = links > 0;
    }

    const orders = {
      score: (a, b) => a.place - b.place,
      title: (a, b) => a.title.localeCompare(b.title) || a.place - b.place,
      url: (a, b) => a.url.localeCompare(b.url) || a.place - b.place,
      count: (a, b) => b.count - a.count || a.place - b.place,
    };
    byId("order").addEventListener("change", (event) => {
      const order = orders[event.target.value];
      list.append(...[...groups].sort(order).map((group) => group.element));
    });
    byId("toggle").addEventListener("click", (event) => {
      const open = event.target.textContent === "Open all";
      groups.forEach((group) => { group.element.open = open; });
      event.target.textContent = open ? "Close all" : "Open all";
    });
    Object.values(controls).forEach((control) => control.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(apply, 120);
    }));
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.hidden = false;
    apply();
  }

  // Column heads become buttons that sort: numbers downwards first, words upwards first.
  function sortable(table) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const numeric = head.classList.contains("num");
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const up = before ? before === "descending" : !numeric;
        [...table.tHead.rows[0].cells].forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const key = (row) => row.cells[column].textContent.trim();
        const compare = numeric ? (a, b) => parseFloat(key(a)) - parseFloat(key(b)) : (a, b) => key(a).localeCompare(key(b));
        body.append(...[...body.rows].sort((a, b) => (up ? compare(a, b) : compare(b, a))));
      });
    });
  }
})();
