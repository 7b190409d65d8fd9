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
for (const head of document.querySelectorAll("th[data-kind]")) {
  head.querySelector("button").addEventListener("click", () => sortBy(head));
}

// Filter the matches by name of row or group, and by probability.
const matches = byId("matches");
const titles = [...matches.tHead.rows[0].cells].map((head) => head.textContent);
const named = ["Row", "Group"].map((title) => titles.indexOf(title)).filter((k) => k >= 0);
const likely = titles.indexOf("Match probability");
const filter = () => {
  const wanted = byId("find").value.trim().toLowerCase();
  const limit = byId("limit") ? parseFloat(byId("limit").value) : 2;
  let shown = 0;
  for (const row of matches.tBodies[0].rows) {
    const found = named.some((k) => row.cells[k].textContent.toLowerCase().includes(wanted));
    const below = likely < 0 || parseFloat(row.cells[likely].textContent) < limit;
    row.hidden = !(found && below);
    shown += !row.hidden;
  }
  byId("shown").textContent = `${shown.toLocaleString("en")} shown`;
};
byId("find").addEventListener("input", filter);
byId("limit")?.addEventListener("change", filter);
filter();

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
