// Sorting, filtering and linked highlighting. Pages are whole without it.
"use strict";
(() => {
  document.documentElement.classList.add("js");
  const all = (query, root = document) => [...root.querySelectorAll(query)];

  const key = (row, column) => {
    const cell = row.cells[column];
    const value = cell.dataset.value;
    return value === undefined ? cell.textContent.trim().toLocaleLowerCase() : Number(value);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));

  const sortBy = (head) => {
    const table = head.closest("table"), body = table.tBodies[0], column = head.cellIndex;
    const first = head.dataset.first || "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    const sign = order === "ascending" ? 1 : -1;
    all("th[aria-sort]", table).forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const rows = [...body.rows].map((row, place) => [key(row, column), place, row]);
    rows.sort((a, b) => sign * compare(a[0], b[0]) || a[1] - b[1]);
    body.append(...rows.map((row) => row[2]));
  };

  const filter = (field) => {
    const wanted = field.value.trim().toLocaleLowerCase();
    const among = all(field.dataset.filters);
    let left = 0;
    for (const one of among) {
      one.hidden = wanted !== "" && !one.textContent.toLocaleLowerCase().includes(wanted);
      left += !one.hidden;
    }
    const told = document.getElementById(field.getAttribute("aria-describedby"));
    const rows = among.filter((one) => one.tagName === "TR");
    if (told) told.textContent = wanted ? `${rows.filter((one) => !one.hidden).length} of ${rows.length}` : "";
  };

  const light = (topic, on) => all(`[data-topic="${CSS.escape(topic)}"]`).forEach((one) => one.classList.toggle("lit", on));

  document.addEventListener("DOMContentLoaded", () => {
    all("th[data-sortable]").forEach((head) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sortBy(head));
    });
    all("input[data-filters]").forEach((field) => field.addEventListener("input", () => filter(field)));
    for (const [enter, leave] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
      const change = (on) => (event) => {
        const found = event.target.closest?.("[data-topic]");
        if (found) light(found.dataset.topic, on);
      };
      document.addEventListener(enter, change(true));
      document.addEventListener(leave, change(false));
    }
    all("input[type=range][data-shows]").forEach((slider) => {
      const told = document.getElementById(slider.dataset.shows);
      slider.addEventListener("input", () => { told.textContent = `${Math.round(100 * slider.value)}%`; });
      slider.addEventListener("change", () => slider.form.requestSubmit());
    });
  });
})();
