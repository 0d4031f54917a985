// Keys, and the same links and forms without loading the whole page. Everything works without this file.
"use strict";
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const main = () => find("#main");
  const here = (url) => new URL(url, location.href).origin === location.origin;
  let busy = false;

  // Asks for a page and puts its content in place of the present one.
  async function go(url, options = {}, { push = true } = {}) {
    if (busy) return;
    busy = true;
    main().classList.add("busy");
    try {
      const answer = await fetch(url, { ...options, headers: { accept: "text/html", ...(options.headers || {}) } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      put(page, push);
    } catch {
      say("The server does not answer. Start linkwright review again, then load this page again.", true);
    } finally {
      busy = false;
      main().classList.remove("busy");
    }
  }

  function put(page, push) {
    const fresh = find("#main", page);
    if (!fresh) return;
    const list = find(".list"), scrolled = list ? list.scrollTop : 0;
    main().replaceWith(fresh);
    document.title = page.title;
    const nav = find(".top nav", page), who = find(".who", page);
    if (nav) find(".top nav").replaceWith(nav);
    if (who) find(".who").replaceWith(who);
    const address = fresh.dataset.address || location.href;
    if (push) history.pushState(null, "", address); else history.replaceState(null, "", address);
    if (find(".list")) find(".list").scrollTop = scrolled;
    if (!find(".list") || innerWidth < 900) scrollTo(0, 0);
    settle();
    const focus = find("#focus");
    if (focus) focus.focus({ preventScroll: true });
    announce();
  }

  // After new content is there: show the row and the passage at hand.
  function settle() {
    const row = find(".rows [aria-current]");
    if (row && innerWidth >= 900) row.scrollIntoView({ block: "nearest" });
    for (const side of all(".side")) {
      const passage = find("#passage", side);
      if (passage) side.scrollTop = passage.offsetTop - side.offsetTop - side.clientHeight / 3;
    }
    if (find("#text")) chooser();
    const waiting = find("[data-refresh]");
    if (waiting) setTimeout(() => waiting.isConnected && go(location.href, {}, { push: false }), 1500);
  }

  function announce() {
    const parts = [find(".problem"), find("#said"), find("#focus")].filter(Boolean).map((part) => part.textContent.trim());
    find("#status").textContent = parts.join(". ");
  }

  function say(sentence, visible) {
    find("#status").textContent = sentence;
    const flash = find(".flash") || main();
    if (!visible) return;
    const note = document.createElement("p");
    note.className = "problem";
    note.setAttribute("role", "alert");
    note.textContent = sentence;
    flash.prepend(note);
  }

  function send(form, button) {
    const data = new URLSearchParams(new FormData(form, button));
    const action = (button && button.getAttribute("formaction")) || form.getAttribute("action");
    const method = ((button && button.getAttribute("formmethod")) || form.method).toLowerCase();
    if (method === "post") return go(action, { method: "POST", body: data });
    for (const [name, value] of [...data]) if (value === "" || name === "csrf") data.delete(name);
    if (form.elements.part && !data.has("part")) data.append("part", "");
    const query = data.toString();
    return go(query ? `${action}?${query}` : action);
  }

  document.addEventListener("submit", (event) => {
    if (event.target.method === "dialog") return;
    event.preventDefault();
    if (event.target.id === "revision" && find("#save")?.disabled && event.submitter?.id === "save") return;
    send(event.target, event.submitter);
  });
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-auto]");
    if (form && event.target.matches("select, input[type=number]")) send(form);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.getAttribute("href").startsWith("#") || !here(link.href)) return;
    event.preventDefault();
    if (link.matches(".keys")) return keys();
    go(link.href);
  });
  addEventListener("popstate", () => go(location.href, {}, { push: false }));

  function keys() {
    const dialog = find("dialog#keys");
    if (dialog.open) dialog.close(); else dialog.showModal();
  }

  const typing = (element) => element && element.matches("input:not([type=checkbox]), textarea, select");

  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.isComposing) return;
    const dialog = find("dialog#keys");
    if (dialog.open) {
      if (event.key === "?") { event.preventDefault(); dialog.close(); }
      return;
    }
    if (typing(document.activeElement)) {
      if (event.key === "Escape") { event.preventDefault(); leave(); }
      return;
    }
    if (event.key === "?") { event.preventDefault(); return keys(); }
    if (find("#text") && chosen(event)) return event.preventDefault();
    if (event.altKey) return;
    if (rejecting(event)) return event.preventDefault();
    if (event.target.closest?.(".side, .wide, .paragraph") && event.key.startsWith("Arrow")) return;
    const wanted = all("[data-key]").find((element) => element.dataset.key.split(" ").includes(event.key));
    if (!wanted) return;
    event.preventDefault();
    if (busy) return;
    if (wanted.matches("input, textarea")) { wanted.focus(); wanted.select?.(); }
    else if (wanted.matches("summary")) toggle(wanted.parentElement);
    else wanted.click();
  });

  function leave() {
    document.activeElement.blur();
    find(".reject[open]")?.removeAttribute("open");
    find("#focus")?.focus({ preventScroll: true });
  }

  function toggle(details) {
    details.open = !details.open;
    if (details.open) find("button", details)?.focus();
  }

  // While the reasons are open: a number takes one, r takes none, Escape closes them.
  function rejecting(event) {
    const open = find(".reject[open]");
    if (!open) return false;
    if (event.key === "Escape") { open.open = false; find("summary", open).focus(); return true; }
    const button = event.key === "r" ? find("[data-plain]", open) : find(`[data-digit="${CSS.escape(event.key)}"]`, open);
    if (button) button.click();
    return Boolean(button);
  }

  // The choice of words.
  let words = [], from = 0, to = 0, asked = 0;

  function chooser() {
    const text = find("#text");
    const on = find(".w.on", text);
    const block = on ? on.closest(".block") : find(".block", text);
    words = block ? all(".w", block) : [];
    from = words.findIndex((word) => word.classList.contains("on"));
    to = words.length - 1 - [...words].reverse().findIndex((word) => word.classList.contains("on"));
    if (from < 0) from = to = 0;
    text.addEventListener("mouseup", () => setTimeout(marked));
    find("#words").addEventListener("input", () => {
      const form = find("#revision");
      form.elements.start.value = form.elements.end.value = "";
      find("#save").disabled = false;
      verdict("", "These words are tried when you accept them.", []);
    });
    const answer = find("#verdict");
    find("#save").disabled = answer.classList.contains("problem") && Boolean(on);
  }

  // What the mouse marked, whole words of one block.
  function marked() {
    const selection = getSelection();
    if (!selection.rangeCount) return;
    const range = selection.getRangeAt(0);
    const start = range.startContainer.parentElement.closest(".block") || range.endContainer.parentElement.closest(".block");
    if (!start) return;
    const inside = all(".w", start).filter((word) => range.intersectsNode(word) && touches(range, word));
    if (!inside.length) return;
    words = all(".w", start);
    from = words.indexOf(inside[0]);
    to = words.indexOf(inside[inside.length - 1]);
    selection.removeAllRanges();
    choose();
  }

  function touches(range, word) {
    if (range.collapsed) return true;
    const own = document.createRange();
    own.selectNodeContents(word);
    return range.compareBoundaryPoints(Range.END_TO_START, own) < 0 && range.compareBoundaryPoints(Range.START_TO_END, own) > 0;
  }

  function choose() {
    const block = words[0].closest(".block");
    for (const word of all(".w.on, mark", find("#text"))) word.classList.remove("on");
    for (let node = words[from]; node; node = node.nextElementSibling) {
      if (node.matches(".w")) node.classList.add("on");
      if (node === words[to]) break;
    }
    words[from].scrollIntoView({ block: "nearest" });
    const form = find("#revision");
    form.elements.block.value = block.dataset.block;
    form.elements.start.value = words[from].dataset.s;
    form.elements.end.value = words[to].dataset.e;
    const range = document.createRange();
    range.setStartBefore(words[from]);
    range.setEndAfter(words[to]);
    form.elements.words.value = range.toString();
    for (const other of all("form input[name=start]")) other.value = words[from].dataset.s;
    for (const other of all("form input[name=end]")) other.value = words[to].dataset.e;
    for (const other of all("form input[name=block]")) other.value = block.dataset.block;
    check(form);
  }

  async function check(form) {
    const mine = ++asked;
    const fields = ["id", "block", "start", "end", "to", "part"];
    const query = new URLSearchParams(fields.map((name) => [name, form.elements[name].value]));
    try {
      const answer = await fetch(`/check?${query}`);
      const told = await answer.json();
      if (mine !== asked || !form.isConnected) return;
      verdict(told.good ? "good" : "problem", told.sentence, told.warnings);
      if (told.words) form.elements.words.value = told.words;
      find("#save").disabled = !told.good;
    } catch {
      if (mine === asked) verdict("problem", "The server does not answer.", []);
    }
  }

  function verdict(kind, sentence, warnings) {
    const answer = find("#verdict");
    answer.className = kind;
    answer.textContent = sentence;
    find("#warnings").replaceChildren(...warnings.map((warning) => {
      const item = document.createElement("li");
      item.textContent = warning;
      return item;
    }));
  }

  // Keys that move, stretch and shrink the anchor.
  function chosen(event) {
    if (event.key === "[" || event.key === "]") {
      const offers = all(".offers button[name=passage]");
      if (!offers.length) return true;
      const at = offers.findIndex((offer) => offer.getAttribute("aria-pressed") === "true");
      const step = event.key === "]" ? 1 : -1;
      offers[(at < 0 && step < 0 ? offers.length - 1 : (at + step + offers.length) % offers.length)].click();
      return true;
    }
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !words.length) return false;
    const within = (at) => Math.max(0, Math.min(words.length - 1, at));
    if (event.shiftKey) to = Math.max(from, within(to + step));
    else if (event.altKey) from = Math.min(to, within(from + step));
    else if (within(from + step) === from + step && within(to + step) === to + step) { from += step; to += step; }
    choose();
    return true;
  }

  settle();
})();
