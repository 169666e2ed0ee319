// Pieces that details are put together of: facts, tables, lists of findings, bytes as letters.

const SEVERITIES = ["note", "low", "medium", "high", "critical"];
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const COLORS = 6; // of owners, in the style
const WORD_BYTES = 8; // a group of bytes in a picture

const badge = (severity) => el("span", { class: `severity ${severity}` }, severity);
const fact = (term, ...what) => [el("dt", {}, term), el("dd", {}, what)];
const facts = (...rows) => el("dl", { class: "facts" }, rows);
const heading = (text) => el("h3", {}, text);
const scroll = (label, content) =>
  el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, content);

function grid(label, heads, rows) {
  return scroll(
    label,
    el(
      "table",
      { class: "plain" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((head) => el("th", { scope: "col" }, head)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((cell) => el("td", {}, cell)),
          ),
        ),
      ),
    ),
  );
}

/** Findings by severity and names, each with a link. */
function findingList(findings) {
  return el(
    "ul",
    { class: "plain" },
    findings.map((finding) =>
      el("li", {}, badge(finding.severity), " ", el("a", { href: `#${finding.id}` }, finding.names.join(" / "))),
    ),
  );
}

/** The letter of a span whose variable is the one with this number on its line. */
const markOf = (span, at) => (span.kind === "hole" ? "-" : LETTERS[at % LETTERS.length]);

/** Whether an access touches bytes of [start, end) of its section. */
const touches = (access, start, end) => access.offset < end && access.offset + access.size > start;

/** [is it set, start, end] of the runs of equal bytes. */
function runsOf(bytes, start, end) {
  const runs = [];
  for (let at = start; at < end; at++) {
    const last = runs[runs.length - 1];
    if (last && last[0] === Boolean(bytes[at])) last[2] = at + 1;
    else runs.push([Boolean(bytes[at]), at, at + 1]);
  }
  return runs;
}

/** A picture of bytes: slices are [letter, colour, hot, start, end, does its owner begin here]. */
function bytesOf(slices, size, words) {
  const cells = slices.flatMap(([letter, owner, hot, start, end, begins]) =>
    Array.from({ length: end - start }, (_, at) =>
      el(
        "span",
        {
          class: `byte owner${owner}${hot ? " hot" : ""}${begins && !at ? " first" : ""}`,
        },
        hot ? letter.toUpperCase() : letter,
      ),
    ),
  );
  const groups = [];
  for (let at = 0; at < cells.length; at += WORD_BYTES) {
    const word = cells.slice(at, at + WORD_BYTES);
    groups.push(el("span", { class: "group" }, el("span", { class: "ruler" }, String(at)), word));
  }
  return el("div", { class: "bytes", role: "img", "aria-label": `${size} bytes: ${words}` }, groups);
}
