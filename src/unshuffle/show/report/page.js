"use strict";
const byId = (id) => document.getElementById(id);

// Sort by a click on a column title, or Enter on it; empty cells always come last.
const valueOf = (row, column, isNumber) => {
  const cell = row.cells[column];
  if (!isNumber) return cell.textContent.toLowerCase();
  return parseFloat(cell.dataset.v ?? cell.textContent);
};
const sortBy = (head) => {
  const table = head.closest("table");
  const body = table.tBodies[0];
  const isNumber = head.dataset.kind === "number";
  const falling = head.getAttribute("aria-sort") === "ascending";
  const sign = falling ? -1 : 1;
  const keyed = [...body.rows].map((row) => [valueOf(row, head.cellIndex, isNumber), row]);
  const empty = (key) => key === "-" || key === "" || Number.isNaN(key);
  keyed.sort(([a], [b]) => {
    if (empty(a) || empty(b)) return empty(a) - empty(b);
    return sign * (isNumber ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  });
  body.append(...keyed.map(([, row]) => row));
  for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
};
// The rows of a review are sorted and filtered by its own script, which knows all of them.
const reviewed = byId("review-data") !== null;
for (const head of document.querySelectorAll("th[data-kind]")) {
  if (reviewed && head.closest("table").id === "matches") continue;
  head.querySelector("button").addEventListener("click", () => sortBy(head));
}

// Filter a list of matches by name of row or group.
if (!reviewed) {
  const matches = byId("matches");
  const titles = [...matches.tHead.rows[0].cells].map((head) => head.textContent);
  const named = ["Row", "Id", "Group"].map((title) => titles.indexOf(title)).filter((k) => k >= 0);
  const filter = () => {
    const wanted = byId("find").value.trim().toLowerCase();
    let shown = 0;
    for (const row of matches.tBodies[0].rows) {
      const found = named.some((k) => row.cells[k].textContent.toLowerCase().includes(wanted));
      row.hidden = !found;
      shown += found;
    }
    byId("shown").textContent = `${shown.toLocaleString("en")} shown`;
  };
  byId("find").addEventListener("input", filter);
  filter();
}

// The theme is that of the system until the button is used.
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const nameTheme = () => {
  byId("theme").textContent = isDark() ? "Light theme" : "Dark theme";
};
byId("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
system.addEventListener("change", nameTheme);
nameTheme();

// Copy the code; where the clipboard cannot be used, select it instead.
byId("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(byId("code").textContent);
    byId("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(byId("code"));
    byId("copy").textContent = "Selected: press Ctrl+C";
  }
});
