// Draw the review, and answer mouse and keyboard. Text is set as text, never as markup.
const WINDOW = 100;
const node = (tag, properties = {}, ...children) => {
  const { data = {}, aria = {}, ...plain } = properties;
  const made = Object.assign(document.createElement(tag), plain);
  for (const [name, value] of Object.entries(data)) made.dataset[name] = value;
  for (const [name, value] of Object.entries(aria)) made.setAttribute(`aria-${name}`, value);
  made.append(...children.filter((child) => child !== null));
  return made;
};
const count = (number) => number.toLocaleString("en");
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
const short = (number) => {
  if (number === null || number === undefined) return "";
  return typeof number === "number" ? String(Number(number.toPrecision(5))) : String(number);
};
const percent = (share) => {
  if (share === null || share === undefined) return "";
  if (share < 0.01) return "<1 %";
  if (share > 0.99) return share === 1 ? "100 %" : ">99 %";
  return `${Math.round(100 * share)} %`;
};
const titleOf = (record) => (record.name === null ? `Row ${record.row}` : record.name);
const fullTitle = (record) => (
  record.name === null ? `Row ${record.row}` : `${record.name} (row ${record.row})`
);

const table = byId("matches");
const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
const first = (entry) => entry.partners[0];
const VALUES = {
  Row: (entry) => entry.row,
  Id: (entry) => entry.name,
  Group: (entry) => entry.group,
  Status: (entry) => review.kinds[entry.kind],
  "Match probability": (entry) => entry.probability,
  "Label given": (entry) => entry.label,
  "Likely partner": (entry) => first(entry)?.row ?? null,
  "Its label": (entry) => first(entry)?.label ?? null,
  "Its probability": (entry) => first(entry)?.share ?? null,
  Decision: (entry) => decisions.get(entry.row) ?? null,
};
const SHOWN = {
  "Match probability": (entry) => percent(entry.probability),
  "Label given": (entry) => short(entry.label),
  "Likely partner": (entry) => (first(entry) ? `${first(entry).row} ${first(entry).name ?? ""}`.trim() : ""),
  "Its label": (entry) => short(first(entry)?.label),
  "Its probability": (entry) => percent(first(entry)?.share),
};
const titles = heads.map((head) => head.textContent.trim());

let order = [];
let current = null;
let start = 0;
let sorted = null;

const say = (words) => { byId("review-live").textContent = words; };

// ---- which rows, in which order
const CHOICES = [
  ["open", "what needs a decision", needsDecision],
  ["suspects", "suspects", (entry) => entry.suspect],
  ...review.kinds.map((kind, k) => [String(k), kind, (entry) => entry.kind === k]),
  ["all", "every row listed", () => true],
];
const fillChoices = () => {
  for (const [value, words, holds] of CHOICES) {
    const many = entries.filter(holds).length;
    const wanted = many > 0 || value === "all";
    if (wanted) byId("kinds").append(node("option", { value }, `${words} (${count(many)})`));
  }
};
const wordsOf = (entry) => [
  entry.row, entry.name, entry.group, ...entry.partners.flatMap(({ row, name }) => [row, name]),
].filter((word) => word !== null && word !== undefined).join("\n").toLowerCase();
const compare = (title, sign) => (a, b) => {
  const [left, right] = [VALUES[title](a), VALUES[title](b)];
  const empty = (value) => value === null || value === "";
  if (empty(left) || empty(right)) return empty(left) - empty(right);
  if (typeof left === "number") return sign * (left - right);
  return sign * left.localeCompare(right, undefined, { numeric: true });
};
const arrange = () => {
  const holds = CHOICES.find(([value]) => value === byId("kinds").value)[2];
  const decided = byId("decided").value;
  const wanted = byId("find").value.trim().toLowerCase();
  order = entries.filter((entry) => {
    const mark = decisions.get(entry.row);
    if (decided && (decided === "none" ? mark !== undefined : mark !== decided)) return false;
    return holds(entry) && (wanted === "" || wordsOf(entry).includes(wanted));
  });
  if (sorted) order.sort(compare(sorted.title, sorted.sign));
  for (const [k, head] of heads.entries()) {
    const here = sorted?.title === titles[k];
    head.setAttribute("aria-sort", here ? (sorted.sign > 0 ? "ascending" : "descending") : "none");
  }
  byId("shown").textContent = `${count(order.length)} shown`;
  if (!order.includes(current)) current = order[0] ?? null;
  showWindow();
  draw();
};

// ---- the list: a window of rows, so that thousands stay quick
const showWindow = () => {
  const place = Math.max(order.indexOf(current), 0);
  start = Math.floor(place / WINDOW) * WINDOW;
};
const tag = (words, kind) => node("span", { className: `tag ${kind}` }, words);
const cellOf = (entry, title, k) => {
  const cell = node("td", { className: heads[k].dataset.kind === "text" ? "t" : "" });
  if (title === "Row") {
    const here = entry === current;
    cell.append(node("button", {
      type: "button", tabIndex: here ? 0 : -1, data: { number: entry.number },
      aria: { label: `Row ${entry.row}${entry.name === null ? "" : `, ${entry.name}`}` },
    }, String(entry.row)));
  } else if (title === "Status") cell.append(tag(review.kinds[entry.kind], `kind-${entry.kind}`));
  else if (title === "Decision") {
    const mark = decisions.get(entry.row);
    if (mark) cell.append(tag(mark, mark));
  } else cell.textContent = (SHOWN[title] ?? VALUES[title])(entry) ?? "";
  return cell;
};
const drawList = () => {
  const focused = table.contains(document.activeElement) && document.activeElement.closest("tbody");
  const rows = order.slice(start, start + WINDOW).map((entry) => {
    const row = node("tr", { data: { number: entry.number } },
      ...titles.map((title, k) => cellOf(entry, title, k)));
    if (entry === current) row.setAttribute("aria-current", "true");
    return row;
  });
  table.tBodies[0].replaceChildren(...rows);
  const here = table.querySelector('tr[aria-current="true"]');
  if (focused) here?.querySelector("button").focus({ preventScroll: true });
  if (here) keepInView(here);
  drawPager();
};
const keepInView = (row) => {
  const box = table.parentElement;
  const top = row.offsetTop - table.tHead.offsetHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  const bottom = row.offsetTop + row.offsetHeight;
  if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
};
const drawPager = () => {
  const pager = byId("review-pager");
  pager.hidden = order.length <= WINDOW;
  const last = Math.min(start + WINDOW, order.length);
  const turn = (words, to, off) => node("button", {
    type: "button", disabled: off, onclick: () => { start = to; drawList(); },
  }, words);
  pager.replaceChildren(
    turn("Earlier rows", start - WINDOW, start === 0),
    node("span", {}, `${count(start + 1)} to ${count(last)} of ${count(order.length)}`),
    turn("Later rows", start + WINDOW, last === order.length),
  );
};

// ---- the card: one row beside its partner
const sentence = (entry, partner) => {
  const own = `The label ${short(entry.label)} is this row's own with probability ${percent(entry.probability)}.`;
  const fitted = entry.fitted === null ? "" : ` The fit expects ${short(entry.fitted)} here.`;
  if (review.kinds[entry.kind] === "far off") {
    return `${own}${fitted} It is far off, but no other row's label fits better.`;
  }
  if (!partner) return own + fitted;
  return `${own}${fitted} ${fullTitle(partner)} holds ${short(partner.label)}, which is this row's `
    + `with probability ${percent(partner.share)}.`;
};
const drawCompare = (entry, partner) => {
  const view = byId("compare");
  const line = (title, mine, theirs, main) => {
    const same = partner !== undefined && mine === theirs;
    return node("tr", { className: `${main ? "main" : ""} ${same ? "same" : ""}`.trim() },
      node("th", { scope: "row" }, title),
      node("td", {}, short(mine)),
      partner ? node("td", {}, short(theirs)) : null,
      partner ? node("td", { className: "sign" }, same ? "same" : "") : null);
  };
  const head = node("tr", {},
    node("td"),
    node("th", { scope: "col" }, titleOf(entry)),
    partner ? node("th", { scope: "col" }, titleOf(partner)) : null,
    partner ? node("td", { className: "sign" }, "") : null);
  view.tHead.replaceChildren(head);
  const lines = [line(`${review.label} (label given)`, entry.label, partner?.label, true)];
  if (entry.fitted !== null) lines.push(line("fitted value", entry.fitted, partner?.fitted, true));
  if (review.grouped) lines.push(line(review.group, entry.group, partner?.group));
  review.columns.forEach((title, k) => {
    lines.push(line(title, entry.cells[k], partner?.cells[k]));
  });
  view.tBodies[0].replaceChildren(...lines);
};
const drawCandidates = (entry) => {
  const box = byId("candidates");
  const focused = box.contains(document.activeElement);
  box.hidden = entry.partners.length < 2;
  box.replaceChildren(...entry.partners.map((partner, k) => node("button", {
    type: "button", aria: { pressed: String(k === entry.chosen) },
    onclick: () => { entry.chosen = k; drawCard(); },
  }, `${titleOf(partner)} `, node("span", {}, percent(partner.share)))));
  if (focused) box.children[entry.chosen]?.focus();
};
const drawCard = () => {
  byId("card").hidden = current === null;
  if (current === null) return;
  const entry = current;
  const partner = entry.partners[entry.chosen];
  byId("card-title").textContent = fullTitle(entry);
  byId("card-kind").textContent = review.kinds[entry.kind];
  byId("card-kind").className = `tag kind-${entry.kind}`;
  byId("card-place").textContent = `${count(order.indexOf(entry) + 1)} of ${count(order.length)}`;
  byId("card-text").textContent = sentence(entry, partner);
  byId("card-bar").style.width = `${100 * entry.probability}%`;
  for (const button of document.querySelectorAll(".marks button")) {
    const here = decisions.get(entry.row) === button.dataset.mark;
    button.setAttribute("aria-pressed", String(here));
  }
  drawCandidates(entry);
  drawCompare(entry, partner);
};
const drawProgress = () => {
  const open = entries.filter(needsDecision);
  const done = open.filter((entry) => decisions.has(entry.row)).length;
  const total = Math.max(open.length, 1);
  const meter = byId("review-meter");
  meter.setAttribute("aria-valuemax", String(open.length));
  meter.setAttribute("aria-valuenow", String(done));
  meter.firstElementChild.style.width = `${(100 * done) / total}%`;
  const by = MARKS.map((mark) => [mark, [...decisions.values()].filter((m) => m === mark).length]);
  const parts = by.filter(([, many]) => many).map(([mark, many]) => `${count(many)} ${mark}`);
  byId("review-count").textContent = open.length
    ? `${count(done)} of ${plural(open.length, "row")} decided${parts.length ? `: ${parts.join(", ")}` : ""}`
    : `No row needs a decision${parts.length ? `; decided: ${parts.join(", ")}` : ""}`;
  byId("undo").disabled = past.length === 0;
  byId("download").disabled = decisions.size === 0;
  byId("unkept").hidden = kept;
};
const draw = () => {
  drawCard();
  drawList();
  drawProgress();
  document.dispatchEvent(new Event("review-drawn"));
};

// ---- moves and marks
const describe = (entry) => (
  `${fullTitle(entry)}, ${review.kinds[entry.kind]}, ${percent(entry.probability)}`
);
const select = (entry, words) => {
  current = entry;
  if (!order.includes(entry)) {
    byId("kinds").value = "all";
    byId("decided").value = "";
    byId("find").value = "";
    arrange();
  }
  showWindow();
  draw();
  say(words ?? describe(entry));
};
const step = (by) => {
  const to = order[order.indexOf(current) + by];
  if (to) select(to);
  else say(by > 0 ? "This is the last row" : "This is the first row");
};
const nextOpen = () => {
  const place = order.indexOf(current);
  const around = [...order.slice(place + 1), ...order.slice(0, place)];
  return around.find((entry) => !decisions.has(entry.row));
};
const mark = (word) => {
  if (current === null) return;
  const entry = current;
  decide([[entry.row, word]]);
  const to = nextOpen();
  const told = `${fullTitle(entry)}: ${word}.`;
  select(to ?? entry, to ? `${told} Next: ${describe(to)}` : `${told} All rows shown are decided`);
};
const undo = () => {
  const before = undoLast();
  if (!before) return;
  const entry = entryOfRow.get(before[0][0]);
  select(entry, `Taken back: ${plural(before.length, "decision")}, ${fullTitle(entry)}`);
};
const download = () => {
  const address = URL.createObjectURL(new Blob([asTable()], { type: "text/csv" }));
  node("a", { href: address, download: "reviewed.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  say(`reviewed.csv with ${plural(decisions.size, "decision")}`);
};
const load = async () => {
  const [file] = byId("load").files;
  if (!file) return;
  const found = marksOf(await file.text());
  if (found.length) decide(found);
  draw();
  const words = found.length
    ? `${plural(found.length, "decision")} taken from ${file.name}`
    : `${file.name} has no decisions about these rows`;
  byId("review-count").textContent = words;
  say(words);
  byId("load").value = "";
};

// ---- events
const KEYS = {
  r: () => mark("right"), w: () => mark("wrong"), u: () => mark("unsure"), z: undo,
  j: () => step(1), k: () => step(-1),
};
const IN_SECTION = { ArrowDown: KEYS.j, ArrowUp: KEYS.k };
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input:not([type=checkbox]), select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !byId("keys").checked) return;
  const inside = event.target.closest?.("#review, #matches");
  const action = KEYS[event.key.toLowerCase()] ?? (inside ? IN_SECTION[event.key] : undefined);
  if (!action) return;
  event.preventDefault();
  action();
});
for (const button of document.querySelectorAll(".marks button")) {
  button.addEventListener("click", () => mark(button.dataset.mark));
}
byId("undo").addEventListener("click", undo);
byId("previous").addEventListener("click", () => step(-1));
byId("next").addEventListener("click", () => step(1));
byId("download").addEventListener("click", download);
byId("load").addEventListener("change", load);
byId("find").addEventListener("input", arrange);
for (const name of ["kinds", "decided"]) byId(name).addEventListener("change", arrange);
heads.forEach((head, k) => head.querySelector("button").addEventListener("click", () => {
  const again = sorted?.title === titles[k];
  sorted = { title: titles[k], sign: again ? -sorted.sign : 1 };
  current = null;  // the first row of the new order
  arrange();
}));
table.tBodies[0].addEventListener("click", (event) => {
  const row = event.target.closest("tr");
  if (row) select(entries[Number(row.dataset.number)]);
});
addEventListener("beforeunload", (event) => {
  if (!kept && decisions.size) event.preventDefault();
});

restore();
byId("review").hidden = false;
table.classList.add("live");
fillChoices();
current = entries.find((entry) => needsDecision(entry) && !decisions.has(entry.row)) ?? null;
arrange();
