// The live parts of a page: the server sends each element anew when it has changed. Without this script the
// page says the same, as of when it was loaded.
"use strict";

(() => {
  const again = 10_000; // ms until a stream that was refused is asked for again
  let source = null;
  let timer = 0;

  // offerHere adds the zone of the browser to the zones that a reader may choose from. A choice is sent at once, unless
  // something was typed on the page, which would be lost: then it waits for its button.
  function offerHere() {
    const choice = document.querySelector("#zone-choice select");
    if (!choice) return;
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const known = [...choice.options].find((o) => o.value === here);
    if (known) known.textContent = here === "UTC" ? "UTC" : "mine, " + here;
    else if (here) choice.add(new Option("mine, " + here, here));
    const button = choice.form.querySelector("button");
    let isTyped = false;
    button.hidden = true;
    document.querySelector("main").addEventListener("input", () => { isTyped = true; });
    choice.addEventListener("change", () => {
      if (isTyped) button.hidden = false;
      else choice.form.requestSubmit();
    });
  }

  // isInUse reports whether an element must not be replaced just now: something in it is open or chosen, or is being typed or
  // selected.
  function isInUse(element) {
    if (element.querySelector("details[open], input:checked")) return true;
    const active = document.activeElement;
    if (active && element.contains(active) && active.matches("input, textarea, select")) return true;
    const selection = document.getSelection();
    return Boolean(selection && !selection.isCollapsed && element.contains(selection.anchorNode));
  }

  // focusPath names the focused element within another, so that its successor can be found.
  function focusPath(element) {
    const active = document.activeElement;
    if (!active || active === element || !element.contains(active)) return "";
    if (active.id) return "#" + CSS.escape(active.id);
    if (active.hasAttribute("href")) return "a[href=" + JSON.stringify(active.getAttribute("href")) + "]";
    if (active.dataset.confirm) return "[data-confirm=" + JSON.stringify(active.dataset.confirm) + "]";
    return "";
  }

  // swap puts a fragment in the place of the element with its id.
  function swap(fragment) {
    const old = document.getElementById(fragment.id);
    if (!old || !old.hasAttribute("data-live") || isInUse(old)) return;
    const template = document.createElement("template");
    template.innerHTML = fragment.html;
    const fresh = template.content.firstElementChild;
    if (!fresh || fresh.id !== fragment.id) return;
    if (fresh.isEqualNode(old)) return;
    const focus = focusPath(old);
    old.replaceWith(fresh);
    if (focus) fresh.querySelector(focus)?.focus({ preventScroll: true });
  }

  function close() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
    delete document.body.dataset.streaming;
  }

  // open begins the stream of the page. A hidden page has none: browsers allow few connections to a server.
  function open() {
    close();
    const address = document.body.dataset.stream;
    if (!address || document.hidden || !window.EventSource) return;
    source = new EventSource(address);
    source.addEventListener("open", () => { document.body.dataset.streaming = ""; });
    source.addEventListener("fragment", (event) => swap(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      delete document.body.dataset.streaming;
      if (source && source.readyState === EventSource.CLOSED) {
        close();
        timer = setTimeout(open, again);
      }
    });
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => { if (event.persisted) open(); });

  // The key / goes to the search, and Escape closes a question.
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const search = document.querySelector("[data-search]");
      if (search) {
        event.preventDefault();
        search.focus();
        search.select();
      }
    }
    if (event.key === "Escape") {
      const open = event.target.closest?.("details.confirm[open]");
      if (open) {
        open.open = false;
        open.querySelector("summary").focus();
      }
    }
  });

  // Only one question is open at a time.
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches("details.confirm[open]")) return;
    for (const other of document.querySelectorAll("details.confirm[open]")) {
      if (other !== event.target) other.open = false;
    }
  }, true);

  // A form that was sent is not sent twice.
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    for (const button of event.target.querySelectorAll("button")) setTimeout(() => { button.disabled = true; });
  });
  window.addEventListener("pageshow", () => {
    for (const button of document.querySelectorAll("form[method=post] button:disabled")) button.disabled = false;
  });

  offerHere();
  open();
})();
