// What is reviewed, what was decided, and where that is kept. Nothing here draws.
const MARKS = ["right", "wrong", "unsure"];
const review = JSON.parse(byId("review-data").textContent);

// A record is [row, name, group, label, fitted, probability, ...columns].
const recordOf = (k) => {
  const [row, name, group, label, fitted, probability, ...coded] = review.records[k];
  const cells = coded.map((cell, j) => (review.words[j] ? review.words[j][cell] : cell));
  return { row, name, group: review.groups[group] ?? "", label, fitted, probability, cells };
};
const entries = review.rows.map(([place, kind, suspect, ...pairs], number) => {
  const partners = [];
  for (let k = 0; k < pairs.length; k += 2) {
    partners.push({ ...recordOf(pairs[k]), share: pairs[k + 1] });
  }
  return { ...recordOf(place), place, kind, suspect: suspect === 1, number, partners, chosen: 0 };
});
const entryAt = new Map(entries.map((entry) => [entry.place, entry]));
const entryOfRow = new Map(entries.map((entry) => [entry.row, entry]));
const needsDecision = (entry) => review.open.includes(entry.kind);

// Decisions by row. They stay in memory, and in the storage of the browser where there is one.
const decisions = new Map();
const past = [];
let kept = true;
const store = () => {
  try {
    localStorage.setItem(review.key, JSON.stringify([...decisions]));
  } catch {
    kept = false;
  }
};
const restore = () => {
  try {
    for (const [row, mark] of JSON.parse(localStorage.getItem(review.key) ?? "[]")) {
      if (entryOfRow.has(row) && MARKS.includes(mark)) decisions.set(row, mark);
    }
  } catch {
    kept = false;
  }
};
const setMark = (row, mark) => {
  if (mark === undefined) decisions.delete(row);
  else decisions.set(row, mark);
};
// One step that undo takes back: rows with the marks they had before.
const decide = (marks) => {
  past.push(marks.map(([row]) => [row, decisions.get(row)]));
  for (const [row, mark] of marks) setMark(row, mark);
  store();
};
const undoLast = () => {
  const before = past.pop();
  for (const [row, mark] of before ?? []) setMark(row, mark);
  if (before) store();
  return before;
};

// Tables as text, one row of the table a line.
const quoted = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const asTable = () => {
  const head = ["row", "id", "label", "decision", "match_probability", "partner", "partner_id"];
  const lines = [...decisions].sort(([a], [b]) => a - b).map(([row, mark]) => {
    const entry = entryOfRow.get(row);
    const partner = entry.partners[entry.chosen];
    return [row, entry.name, entry.label, mark, entry.probability, partner?.row, partner?.name];
  });
  const labelled = entries.every((entry) => entry.label !== null);
  const used = head.map((title) => {
    if (title.endsWith("id")) return review.named;
    return title !== "label" || labelled;
  });
  const line = (cells) => cells.filter((_, k) => used[k]).map(quoted).join(",");
  return [head, ...lines].map(line).join("\n") + "\n";
};
const readTable = (text) => {
  const lines = [[""]];
  let inside = false;
  for (let k = 0; k < text.length; k += 1) {
    const letter = text[k];
    const line = lines.at(-1);
    if (letter === '"') {
      if (inside && text[k + 1] === '"') line[line.length - 1] += text[++k];
      else inside = !inside;
    } else if (!inside && letter === ",") line.push("");
    else if (!inside && letter === "\n") lines.push([""]);
    else if (inside || letter !== "\r") line[line.length - 1] += letter;
  }
  const [head, ...rest] = lines.filter((line) => line.length > 1 || line[0] !== "");
  return rest.map((line) => Object.fromEntries((head ?? []).map((title, k) => [title, line[k]])));
};
// Marks of a file that are about rows of this page, under the same name and with the same label.
const marksOf = (text) => {
  const found = [];
  for (const line of readTable(text)) {
    const entry = entryOfRow.get(Number(line.row));
    const same = entry && (!line.id || line.id === entry.name)
      && (!line.label || Math.abs(Number(line.label) - entry.label) <= 1e-9 * Math.abs(entry.label));
    if (same && MARKS.includes(line.decision)) found.push([entry.row, line.decision]);
  }
  return found;
};
