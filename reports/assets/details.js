// What is known of one finding, line, variable or function, as the pane beside the tables and the map.

const SEVERITIES = ["note", "low", "medium", "high", "critical"];
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

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

class Details {
  /** memories: all maps of the page; findings: those of the report. */
  constructor(memories, page) {
    this.memories = memories;
    this.page = page;
  }

  mapOf(finding) {
    return this.memories.find((memory) => memory.data.target === finding.target) ?? null;
  }

  linkToLine(section, line, text) {
    const address = section.address(section.offsetOf(line));
    return el("a", { href: `#${lineHash(section, line)}` }, text ?? `line ${address}`);
  }

  linkToFunction(memory, name) {
    const known = memory?.functionNumber.has(name);
    return known ? el("a", { href: `#${functionHash(memory, name)}` }, name) : name;
  }

  // ---- a finding

  finding(finding) {
    const memory = this.mapOf(finding);
    const place = memory?.at(finding.line) ?? null;
    const where = place
      ? this.linkToLine(place.section, place.section.lineOf(place.offset), finding.where)
      : finding.where;
    const sampled = memory
      ? linesOf(finding, memory)
          .map((line) => memory.sampled.get(line))
          .filter(Boolean)
      : [];
    const [first, ...others] = finding.remedies;
    return [
      el("p", { class: "over" }, badge(finding.severity), " ", finding.verdict, ", ", finding.confidence, ", ", where),
      el("h2", {}, finding.names.join(" / ")),
      el("p", {}, finding.message),
      sampled.length ? this.measured(sampled) : null,
      heading("Do"),
      first ? this.remedy(first, finding) : el("p", {}, "No edit is proposed."),
      others.length
        ? el(
            "details",
            {},
            el("summary", {}, plural(others.length, "other edit")),
            others.map((one) => this.remedy(one, null)),
          )
        : null,
      finding.pictures.length ? heading("The line") : null,
      finding.pictures.map((picture) => this.picture(picture)),
      heading("Who accesses what"),
      this.participants(finding, memory),
      this.places(finding, memory),
      heading("Evidence"),
      el(
        "ul",
        {},
        finding.evidence.map(([kind, text]) => el("li", {}, el("b", {}, kind), ": ", text)),
      ),
      el("p", { class: "faint" }, "Link to this finding: ", el("a", { href: `#${finding.id}` }, finding.id)),
      this.rule(finding.rule),
    ];
  }

  measured(lines) {
    return el(
      "ul",
      { class: "measured" },
      lines.map((line) =>
        el(
          "li",
          {},
          `${percent(line.share)} of the sampled time on ${line.address}`,
          line.gain ? `; ${line.gain}` : "",
        ),
      ),
    );
  }

  remedy(remedy, finding) {
    return el(
      "div",
      { class: "remedy" },
      el("p", {}, remedy.text, " ", el("span", { class: "faint" }, `(${remedy.terms})`)),
      remedy.edit.length ? copyable(remedy.edit.join("\n"), true) : null,
      finding && remedy.fixes ? el("p", {}, "As a diff: ", copyable(`linemate fix ${finding.id}`)) : null,
    );
  }

  /** Bytes of one line; each owner has a letter, capital where it is hot. */
  picture({ title, size, slices, legend }) {
    const words = legend.map((entry) => `${entry.mark} ${entry.name}, bytes ${entry.bytes}`).join("; ");
    return el(
      "figure",
      {},
      el("figcaption", {}, title),
      bytesOf(slices, size, words),
      grid(
        "Owners of the bytes",
        ["mark", "name", "bytes", "hot", "what", "type", "declared"],
        legend.map((entry) => [
          el("b", { class: `owner${entry.color}` }, entry.mark),
          entry.name,
          entry.bytes,
          entry.hot,
          entry.role,
          entry.type,
          entry.source,
        ]),
      ),
    );
  }

  participants(finding, memory) {
    return finding.accesses.map(({ name, lines }) =>
      el(
        "div",
        {},
        el("h4", {}, name),
        facts(
          lines.map(([verb, functions]) =>
            fact(
              verb,
              few(functions, 8, (one) => this.linkToFunction(memory, one)),
            ),
          ),
        ),
      ),
    );
  }

  /** Places in source: those of the finding, then those that the map has of its line. */
  places(finding, memory) {
    const lines = memory ? linesOf(finding, memory) : [];
    const start = lines.length ? BigInt(lines[0]) : 0n;
    const end = lines.length ? start + BigInt(lines.length * memory.lineSize) : 0n;
    const inside =
      memory?.data.sources.filter((one) => BigInt(one.address) >= start && BigInt(one.address) < end) ?? [];
    if (!finding.related.length && !inside.length) return null;
    return [
      heading("In source"),
      finding.related.length
        ? grid("Accesses in source", ["variable", "access", "function", "place", "locks"], finding.related)
        : null,
      few(inside, 6, (one) => this.excerpt(one, memory)),
    ];
  }

  excerpt(one, memory) {
    const lead = [el("code", {}, one.source), " ", this.linkToFunction(memory, one.function)];
    if (!one.text.length) return lead;
    const wanted = Number(one.source.slice(one.source.lastIndexOf(":") + 1));
    return [
      lead,
      el(
        "pre",
        { class: "source", tabindex: "0" },
        one.text.map((text, at) =>
          el(
            "span",
            { class: one.first + at === wanted ? "wanted" : "" },
            `${String(one.first + at).padStart(5)} ${text}\n`,
          ),
        ),
      ),
    ];
  }

  rule(id) {
    const text = this.page.rules[id];
    return text
      ? el("details", {}, el("summary", {}, `The rule ${id}`), el("pre", { tabindex: "0" }, text))
      : el("p", { class: "faint" }, `rule ${id}`);
  }

  // ---- a line

  line(section, line) {
    const { memory } = section;
    const first = section.offsetOf(line),
      end = first + section.lineSize;
    const spans = section.spans(line);
    const owners = [...new Set(spans.filter((span) => span.variable).map((span) => span.variable.row))];
    const accesses = section.accessesIn(first, end);
    const on = this.findingsOn(section, line);
    const busy = section.busyBytes(line);
    const slices = spans.flatMap((span) => {
      const at = span.variable ? owners.indexOf(span.variable.row) : -1;
      const letter = at < 0 ? "." : span.kind === "hole" ? "-" : LETTERS[at % LETTERS.length];
      return runsOf(busy, span.start, span.end).map(([hot, start, end]) => [
        letter,
        at < 0 ? "none" : at % 6,
        hot,
        start,
        end,
        start === span.start,
      ]);
    });
    const words = spans
      .filter((span) => span.variable)
      .map((span) => `bytes ${span.start} to ${span.end - 1} ${span.name}`)
      .join("; ");
    const step = (by, text) =>
      line + by >= 0 && line + by < section.lines ? this.linkToLine(section, line + by, text) : text;
    return [
      el("p", { class: "over" }, `${section.name}, ${HEAT_WORDS[section.heat[line]]}`),
      el("h2", {}, `Line ${section.address(first)}`),
      el("p", {}, step(-1, "← the line before"), " · ", step(1, "the next line →")),
      on.length
        ? el(
            "ul",
            { class: "plain" },
            on.map((finding) =>
              el(
                "li",
                {},
                badge(finding.severity),
                " ",
                el("a", { href: `#${finding.id}` }, finding.names.join(" / ")),
              ),
            ),
          )
        : null,
      el(
        "figure",
        {},
        el(
          "figcaption",
          {},
          "a letter a byte, by variable; capital: accessed in repeated code; . no variable, - a hole",
        ),
        bytesOf(slices, section.lineSize, words),
      ),
      heading("Owners and members"),
      grid(
        "Owners and members of the bytes",
        ["mark", "bytes", "name and type", "heat", "accessed by"],
        spans
          .filter((span) => span.variable)
          .map((span) => this.spanRow(section, first, span, owners.indexOf(span.variable.row), accesses)),
      ),
      this.matrix(section, line, spans, accesses),
      this.sampledMatrix(memory.sampled.get(section.address(first)), spans),
    ];
  }

  spanRow(section, first, span, at, accesses) {
    const { memory } = section;
    const here =
      span.kind === "hole"
        ? []
        : accesses.filter((one) => one.offset < first + span.end && one.offset + one.size > first + span.start);
    const { writes, reads } = section.heatIn(first + span.start, first + span.end);
    const heat = [
      writes > 1 ? "written often" : writes ? "written" : "",
      reads > 1 ? "read often" : reads ? "read" : "",
    ]
      .filter(Boolean)
      .join(", ");
    return [
      el("b", { class: `owner${at % 6}` }, span.kind === "hole" ? "-" : LETTERS[at % LETTERS.length]),
      byteRange(span.start, span.end),
      [this.linkToVariable(span.variable, span.name), el("small", {}, span.kind === "hole" ? "" : span.type)],
      span.kind === "hole" ? "" : heat,
      few(here, 3, (one) => this.accessText(memory, one)),
    ];
  }

  accessText(memory, access) {
    return [this.linkToFunction(memory, memory.data.functions[access.function]), ` ${verbText(access.verbs)}`];
  }

  linkToVariable(variable, text) {
    return el("a", { href: `#${variableHash(variable)}` }, text ?? variable.name);
  }

  findingsOn(section, line) {
    const address = section.start + BigInt(section.offsetOf(line)),
      size = BigInt(section.lineSize);
    return this.page.findings.filter((finding) => {
      if (this.mapOf(finding) !== section.memory || !finding.line) return false;
      const start = BigInt(finding.line);
      return start < address + size && start + BigInt(finding.size) > address;
    });
  }

  /** Threads by bytes, as the code says: which of them may do what to which member. */
  matrix(section, line, spans, accesses) {
    const { memory } = section;
    const first = section.offsetOf(line);
    const columns = spans.filter(
      (span) =>
        span.kind !== "hole" &&
        accesses.some((one) => one.offset < first + span.end && one.offset + one.size > first + span.start),
    );
    const rows = new Map();
    for (const access of accesses) {
      for (const thread of memory.threadsOf(access.function)) {
        if (!rows.has(thread))
          rows.set(
            thread,
            columns.map(() => 0),
          );
        columns.forEach((span, at) => {
          if (access.offset < first + span.end && access.offset + access.size > first + span.start)
            rows.get(thread)[at] |= access.verbs;
        });
      }
    }
    if (!rows.size) return null;
    return [
      heading("Threads by bytes, from code"),
      grid(
        "Threads by bytes, from code",
        ["thread", ...columns.map((span) => `${byteRange(span.start, span.end)}: ${span.name}`)],
        [...rows]
          .slice(0, 40)
          .map(([thread, cells]) => [thread, ...cells.map((verbs) => (verbs ? verbText(verbs & ~SERIES) : "–"))]),
      ),
    ];
  }

  /** The same as a profile has it, with the samples that fell on each. */
  sampledMatrix(sampled, spans) {
    if (!sampled) return null;
    const rows = new Map();
    for (const [thread, , start, , verbs, samples] of sampled.touches) {
      if (!rows.has(thread)) rows.set(thread, new Map());
      const row = rows.get(thread),
        span = spans.find((one) => start < one.end);
      const [known, count] = row.get(span) ?? [0, 0];
      row.set(span, [known | verbs, count + samples]);
    }
    const columns = spans.filter((span) => [...rows.values()].some((row) => row.has(span)));
    return [
      heading("Threads by bytes, from samples"),
      el("p", {}, `${percent(sampled.share)} of the sampled time. `, sampled.gain),
      grid(
        "Threads by bytes, from samples",
        ["thread", ...columns.map((span) => `${byteRange(span.start, span.end)}: ${span.name}`)],
        [...rows].slice(0, 64).map(([thread, row]) => [
          thread,
          ...columns.map((span) => {
            const [verbs, count] = row.get(span) ?? [0, 0];
            return verbs ? `${verbText(verbs)}${count ? `: ${plural(count, "sample")}` : ""}` : "–";
          }),
        ]),
      ),
    ];
  }

  // ---- a variable

  variable(variable) {
    const { section, offset, size } = variable;
    const { memory } = section;
    const first = section.lineOf(offset),
      last = section.lineOf(offset + Math.max(size, 1) - 1);
    const lines = Array.from({ length: Math.min(last - first + 1, 64) }, (_, at) => first + at);
    const on = [...new Set(lines.flatMap((line) => this.findingsOn(section, line)))];
    const accesses = section.accessesIn(offset, offset + Math.max(size, 1));
    return [
      el("p", { class: "over" }, `${section.name}, ${plural(size, "byte")}`),
      el("h2", {}, variable.name),
      facts(
        fact("address", section.address(offset)),
        variable.type ? fact("type", variable.type.name) : [],
        variable.source ? fact("declared", el("code", {}, variable.source)) : [],
        fact(
          "on",
          few(lines, 8, (line) => [this.linkToLine(section, line), `, ${HEAT_WORDS[section.heat[line]]}`]),
        ),
      ),
      on.length
        ? [
            heading("Findings on its lines"),
            el(
              "ul",
              { class: "plain" },
              on.map((finding) =>
                el(
                  "li",
                  {},
                  badge(finding.severity),
                  " ",
                  el("a", { href: `#${finding.id}` }, finding.names.join(" / ")),
                ),
              ),
            ),
          ]
        : null,
      heading("Accessed by"),
      accesses.length
        ? grid(
            "Accesses",
            ["bytes", "function", "does", "threads"],
            accesses
              .slice(0, 200)
              .map((one) => [
                memory.nameAt(section, Math.max(one.offset, offset)),
                this.linkToFunction(memory, memory.data.functions[one.function]),
                verbText(one.verbs),
                memory.threadsOf(one.function).join(", "),
              ]),
          )
        : el("p", {}, "No function is seen to access it by name."),
    ];
  }

  // ---- a function

  function(memory, row) {
    const accesses = memory.accessesOf(row);
    const name = memory.data.functions[row];
    const sources = memory.data.sources.filter((one) => one.function === name);
    const threads = memory.threadsOf(row);
    return [
      el("p", { class: "over" }, threads.length ? `runs on ${threads.join(", ")}` : "no thread is seen to come here"),
      el("h2", {}, name),
      heading("Accesses, the most frequent first"),
      grid(
        "Accesses",
        ["variable", "does", "line"],
        accesses
          .slice(0, 300)
          .map((one) => [
            memory.nameAt(one.section, one.offset),
            verbText(one.verbs),
            this.linkToLine(one.section, one.section.lineOf(one.offset)),
          ]),
      ),
      accesses.length > 300 ? el("p", { class: "faint" }, `and ${number.format(accesses.length - 300)} more`) : null,
      sources.length ? [heading("In source"), few(sources, 6, (one) => this.excerpt(one, memory))] : null,
    ];
  }
}

/** Addresses of the lines that a finding is about. */
function linesOf(finding, memory) {
  if (!finding.line) return [];
  const first = BigInt(finding.line),
    size = BigInt(memory.lineSize);
  const out = [];
  for (let at = first - (first % size); at < first + BigInt(finding.size) && out.length < 64; at += size)
    out.push(hex(at));
  return out;
}

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
  for (let at = 0; at < cells.length; at += 8) {
    groups.push(el("span", { class: "group" }, el("span", { class: "ruler" }, String(at)), cells.slice(at, at + 8)));
  }
  return el("div", { class: "bytes", role: "img", "aria-label": `${size} bytes: ${words}` }, groups);
}
