(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);

  // Which columns are proved to be among the k largest.
  const list = byId("features-list"), slider = byId("k");
  if (list && slider) {
    const rows = Array.from(list.children);
    const words = { proved: "proved", possible: "possible", out: "not in it" };
    const stateOf = (row, k) =>
      Number(row.dataset.worst) <= k ? "proved" : Number(row.dataset.best) <= k ? "possible" : "out";
    const are = (count) => (count === 1 ? "is" : "are");
    const show = () => {
      const k = Number(slider.value), found = { proved: 0, possible: 0, out: 0 };
      rows.forEach((row, place) => {
        const state = stateOf(row, k);
        found[state] += 1;
        row.classList.remove("proved", "possible", "out");
        row.classList.add(state);
        row.classList.toggle("last", place + 1 === k);
        row.querySelector(".badge").textContent = words[state];
      });
      let said = `${found.proved} of the top ${k} ${are(found.proved)} proved`;
      if (found.possible) said += `; ${found.possible} more of the features shown ${are(found.possible)} possible`;
      byId("k-shown").textContent = String(k);
      byId("k-count").textContent = `${said}.`;
      slider.setAttribute("aria-valuetext", `top ${k}, ${found.proved} proved`);
    };
    slider.addEventListener("input", show);
    slider.parentElement.hidden = rows.length < 2;
    show();

    // One stop for the tab key, arrows within.
    const moves = { ArrowDown: 1, ArrowUp: -1, Home: -rows.length, End: rows.length };
    rows.forEach((row, place) => {
      row.tabIndex = place ? -1 : 0;
      row.addEventListener("focus", () => rows.forEach((other) => { other.tabIndex = other === row ? 0 : -1; }));
      row.addEventListener("keydown", (event) => {
        if (!(event.key in moves)) return;
        event.preventDefault();
        rows[Math.min(Math.max(place + moves[event.key], 0), rows.length - 1)].focus();
      });
      for (const kind of ["focus", "mouseenter"]) row.addEventListener(kind, () => list.classList.remove("quiet"));
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") list.classList.add("quiet");
    });
  }

  // Which class is picked out among the curves.
  const picker = byId("curve-class");
  if (picker) {
    const parts = Array.from(document.querySelectorAll("[data-curve]"));
    picker.parentElement.hidden = false;
    picker.addEventListener("change", () => {
      for (const part of parts) {
        const picked = part.dataset.curve === picker.value;
        if (part.classList.contains("curve")) {
          part.classList.toggle("picked", picked);
          part.classList.toggle("other", !picked);
          if (picked) part.parentElement.append(part);
        } else {
          part.hidden = !picked;
        }
      }
    });
  }

  // Print shows what is folded.
  const folded = Array.from(document.querySelectorAll("details"));
  let shut = [];
  window.addEventListener("beforeprint", () => {
    shut = folded.filter((part) => !part.open);
    for (const part of shut) part.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const part of shut) part.open = false;
  });

  // In a frame of a notebook, links within the page would lead to the notebook's own address.
  if (location.href === "about:srcdoc") {
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      byId(link.getAttribute("href").slice(1))?.scrollIntoView();
    });
  }
})();
