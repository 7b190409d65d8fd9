// Plates as grids of wells, coloured by the probability that a well holds its own label.
const LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95];
const levelOf = (probability) => LEVELS.filter((limit) => probability >= limit).length;
const wellButtons = new Map();
const wellName = (plate, [row, column]) => `${plate.rows[row]}${column + 1}`;
const wordsOfWell = (plate, well) => {
  const entry = entryAt.get(well[2]);
  const name = entry ? fullTitle(entry) : `Row ${well[3]}`;
  const mark = entry && decisions.get(entry.row);
  return `${wellName(plate, well)}: ${name}, ${percent(well[4])}${mark ? `, ${mark}` : ""}`;
};
const makeWell = (plate, well) => {
  const entry = entryAt.get(well[2]);
  const button = node("button", {
    type: "button", tabIndex: -1, className: "well", data: { level: levelOf(well[4]) },
  });
  if (entry) {
    wellButtons.set(entry, [button, plate, well]);
    button.addEventListener("click", () => {
      select(entry);
      byId("card").scrollIntoView({ block: "nearest" });
    });
  } else button.setAttribute("aria-disabled", "true");
  button.title = wordsOfWell(plate, well);
  button.setAttribute("aria-label", button.title);
  return button;
};
// Arrows move inside a grid, of which one well at a time can be reached by Tab.
const moveInside = (grid) => (event) => {
  const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  const cell = event.target.closest("td");
  if (!by || !cell) return;
  event.preventDefault();
  event.stopPropagation();
  let [row, column] = [cell.parentElement.rowIndex, cell.cellIndex];
  for (;;) {
    [row, column] = [row + by[0], column + by[1]];
    const found = grid.rows[row]?.cells[column];
    if (!found || found.tagName === "TH") return;
    const button = found.querySelector("button");
    if (button) {
      event.target.tabIndex = -1;
      button.tabIndex = 0;
      button.focus();
      return;
    }
  }
};
const makePlate = (plate) => {
  const places = new Map(plate.wells.map((well) => [`${well[0]},${well[1]}`, well]));
  const columns = [...Array(plate.columns).keys()];
  const grid = node("table", { className: "plate" },
    node("caption", {}, plate.name || "Plate"),
    node("thead", {}, node("tr", {}, node("td"),
      ...columns.map((k) => node("th", { scope: "col" }, String(k + 1))))),
    node("tbody", {}, ...plate.rows.map((letter, row) => node("tr", {},
      node("th", { scope: "row" }, letter),
      ...columns.map((column) => {
        const well = places.get(`${row},${column}`);
        return node("td", {}, well ? makeWell(plate, well) : null);
      })))));
  grid.addEventListener("keydown", moveInside(grid));
  const firstWell = grid.querySelector("button");
  if (firstWell) firstWell.tabIndex = 0;
  return node("div", { className: "scroll", tabIndex: 0, role: "region", aria: { label: plate.name || "Plate" } }, grid);
};
const markWells = () => {
  for (const name of ["here", "partner"]) {
    for (const button of document.querySelectorAll(`.well.${name}`)) button.classList.remove(name);
  }
  const partner = current?.partners[current.chosen];
  wellButtons.get(current)?.[0].classList.add("here");
  wellButtons.get(entryOfRow.get(partner?.row))?.[0].classList.add("partner");
  for (const [entry, [button, plate, well]] of wellButtons) {
    const mark = decisions.get(entry.row) ?? "";
    if (button.dataset.mark === mark) continue;  // thousands of wells, of which one has changed
    button.dataset.mark = mark;
    button.title = wordsOfWell(plate, well);
    button.setAttribute("aria-label", button.title);
  }
};
if (review.plates.length) {
  const limits = ["<5 %", "5–25 %", "25–50 %", "50–75 %", "75–95 %", "≥95 %"];
  const legend = node("p", { className: "legend" }, "Match probability: ",
    ...limits.map((words, level) => node("span", {},
      node("span", { className: "well", data: { level } }), ` ${words}`)));
  byId("plates").append(node("h3", {}, "Plates"), legend,
    node("div", { className: "plates" }, ...review.plates.map(makePlate)));
  byId("plates").hidden = false;
  document.addEventListener("review-drawn", markWells);
  markWells();
}
