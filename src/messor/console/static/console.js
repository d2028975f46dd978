/* Keyboard shortcuts; every action also works as a plain link or form without JavaScript. */
"use strict";

(() => {
  const typing = (node) => node && (node.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName));
  const rows = () => [...document.querySelectorAll(".queue li")];
  const current = () => document.querySelector(".queue li[aria-current]");

  const mark = (row) => {
    rows().forEach((other) => other.removeAttribute("aria-current"));
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "nearest" });
  };

  const step = (by) => {
    const all = rows();
    const next = all[all.indexOf(current()) + by];
    if (next) next.querySelector("a").click();
  };

  const press = (selector) => {
    const button = document.querySelector(selector);
    if (button) button.click();
  };

  const reason = () => document.querySelector("[data-dossier] [name=reason]");

  const keys = {
    j: () => step(1),
    k: () => step(-1),
    a: () => press("[data-dossier] [data-key=a]"),
    r: () => reason() && reason().focus(),
    b: () => (reason() && reason().value.trim() ? press("[data-dossier] [data-key=b]") : reason() && reason().focus()),
    x: () => { const row = current(); if (row) row.querySelector("input").click(); },
    o: () => press("[data-dossier] [data-open]"),
    "/": () => { const field = document.querySelector("main [data-find], main [type=search]"); if (field) field.focus(); },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = event.target;
    if (event.key === "Escape" && typing(node)) return node.blur();
    /* Enter in the reason field rejects instead of pressing the first button. */
    if (event.key === "Enter" && node.matches("[data-dossier] [data-key=r]")) {
      event.preventDefault();
      return press("[data-dossier] [data-reject]");
    }
    if (typing(node) && node.type !== "checkbox" && node.type !== "radio") return;
    const act = (event.key === "/" || document.querySelector("[data-review]")) && keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  /* Highlight the list item of the open dossier. */
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target.id !== "dossier") return;
    const name = event.target.querySelector("[data-dossier]")?.dataset.dossier;
    const row = rows().find((one) => one.dataset.name === name);
    if (row) mark(row);
  });

  /* The palette: Ctrl-K opens it, the arrow keys walk through what was found. */
  const palette = document.querySelector("#palette");
  const openPalette = (event) => {
    if (!palette || typeof palette.showModal !== "function") return;
    event.preventDefault();
    if (!palette.open) palette.showModal();
    palette.querySelector("[name=q]").select();
  };
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") return openPalette(event);
    if (palette && palette.open && event.key === "Escape") return palette.close(); // a search field would take it
    if (!palette || !palette.open || !/^Arrow(Down|Up)$/.test(event.key)) return;
    const stops = [palette.querySelector("[name=q]"), ...palette.querySelectorAll("#palette-found a")];
    const at = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    event.preventDefault();
    (stops[at] || stops[0]).focus();
  });
  document.querySelectorAll("[data-palette]").forEach((link) => link.addEventListener("click", openPalette));
  if (palette) palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });

  /* The session ended while the page was open. */
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status === 401) window.location.assign("/login");
  });
})();
