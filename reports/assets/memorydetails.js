// What is known of one line, variable or function of a map, as the pane beside the tables and the map.

const THREADS_SHOWN = 64;
const ACCESSES_SHOWN = 300;
const ACCESSORS_SHOWN = 3; // of one member
const LINES_SHOWN = 8; // of one variable

class MemoryDetails {
  /** links: a Links. */
  constructor(links) {
    this.links = links;
  }

  line(section, line) {
    const { memory } = section;
    const first = section.offsetOf(line),
      end = first + section.lineSize;
    const spans = section.spans(line);
    const owners = [...new Set(spans.filter((span) => span.variable).map((span) => span.variable.row))];
    const accesses = section.accessesIn(first, end);
    const on = this.links.findingsOn(section, line);
    const step = (by, text) =>
      line + by >= 0 && line + by < section.lines ? this.links.line(section, line + by, text) : text;
    return [
      el("p", { class: "over" }, `${section.name}, ${HEAT_WORDS[section.heat[line]]}`),
      el("h2", {}, `Line ${section.address(first)}`),
      el("p", {}, step(-1, "← the line before"), " · ", step(1, "the next line →")),
      on.length ? findingList(on) : null,
      this.picture(section, line, spans, owners),
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

  /** The bytes of a line as letters, one for each variable on it. */
  picture(section, line, spans, owners) {
    const busy = section.busyBytes(line);
    const slices = spans.flatMap((span) => {
      const at = span.variable ? owners.indexOf(span.variable.row) : -1;
      const color = at < 0 ? "none" : at % COLORS;
      const mark = at < 0 ? "." : markOf(span, at);
      return runsOf(busy, span.start, span.end).map(([hot, start, end]) => [
        mark,
        color,
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
    const legend = "a letter a byte, by variable; capital: accessed in repeated code; . no variable, - a hole";
    return el("figure", {}, el("figcaption", {}, legend), bytesOf(slices, section.lineSize, words));
  }

  spanRow(section, first, span, at, accesses) {
    const { memory } = section;
    const isHole = span.kind === "hole";
    const here = isHole ? [] : accesses.filter((one) => touches(one, first + span.start, first + span.end));
    const { writes, reads } = section.heatIn(first + span.start, first + span.end);
    const heat = [
      writes > 1 ? "written often" : writes ? "written" : "",
      reads > 1 ? "read often" : reads ? "read" : "",
    ]
      .filter(Boolean)
      .join(", ");
    return [
      el("b", { class: `owner${at % COLORS}` }, markOf(span, at)),
      byteRange(span.start, span.end),
      [this.links.variable(span.variable, span.name), el("small", {}, isHole ? "" : span.type)],
      isHole ? "" : heat,
      few(here, ACCESSORS_SHOWN, (one) => this.accessText(memory, one)),
    ];
  }

  accessText(memory, access) {
    return [this.links.function(memory, memory.data.functions[access.function]), ` ${verbText(access.verbs)}`];
  }

  /** Threads by bytes, as the code says: which of them may do what to which member. */
  matrix(section, line, spans, accesses) {
    const { memory } = section;
    const first = section.offsetOf(line);
    const touched = (access, span) => touches(access, first + span.start, first + span.end);
    const columns = spans.filter((span) => span.kind !== "hole" && accesses.some((one) => touched(one, span)));
    const rows = new Map();
    for (const access of accesses) {
      for (const thread of memory.threadsOf(access.function)) {
        const row = rows.get(thread) ?? new Map();
        rows.set(thread, row);
        for (const span of columns.filter((one) => touched(access, one)))
          row.set(span, (row.get(span) ?? 0) | access.verbs);
      }
    }
    if (!rows.size) return null;
    return this.threadTable("Threads by bytes, from code", columns, rows, (verbs) => verbText(verbs & ~SERIES));
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
    const cell = ([verbs, count]) => `${verbText(verbs) || "–"}${count ? `: ${plural(count, "sample")}` : ""}`;
    const lead = el("p", {}, `${percent(sampled.share)} of the sampled time. `, sampled.gain);
    return this.threadTable("Threads by bytes, from samples", columns, rows, cell, lead);
  }

  /** rows: by thread what it does to each span; cell turns that into text. */
  threadTable(title, columns, rows, cell, lead = null) {
    return [
      heading(title),
      lead,
      grid(
        title,
        ["thread", ...columns.map((span) => `${byteRange(span.start, span.end)}: ${span.name}`)],
        [...rows]
          .slice(0, THREADS_SHOWN)
          .map(([thread, row]) => [thread, ...columns.map((span) => (row.has(span) ? cell(row.get(span)) : "–"))]),
      ),
    ];
  }

  variable(variable) {
    const { section, offset, size } = variable;
    const { memory } = section;
    const first = section.lineOf(offset),
      last = section.lineOf(offset + Math.max(size, 1) - 1);
    const lines = Array.from({ length: Math.min(last - first + 1, MOST_LINES) }, (_, at) => first + at);
    const on = [...new Set(lines.flatMap((line) => this.links.findingsOn(section, line)))];
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
          few(lines, LINES_SHOWN, (line) => [this.links.line(section, line), `, ${HEAT_WORDS[section.heat[line]]}`]),
        ),
      ),
      on.length ? [heading("Findings on its lines"), findingList(on)] : null,
      heading("Accessed by"),
      accesses.length
        ? grid(
            "Accesses",
            ["bytes", "function", "does", "threads"],
            accesses
              .slice(0, ACCESSES_SHOWN)
              .map((one) => [
                memory.nameAt(section, Math.max(one.offset, offset)),
                this.links.function(memory, memory.data.functions[one.function]),
                verbText(one.verbs),
                memory.threadsOf(one.function).join(", "),
              ]),
          )
        : el("p", {}, "No function is seen to access it by name."),
    ];
  }

  function(memory, row) {
    const accesses = memory.accessesOf(row);
    const name = memory.data.functions[row];
    const excerpts = memory.data.excerpts.filter((one) => one.function === name);
    const threads = memory.threadsOf(row);
    const more = accesses.length - ACCESSES_SHOWN;
    return [
      el("p", { class: "over" }, threads.length ? `runs on ${threads.join(", ")}` : "no thread is seen to come here"),
      el("h2", {}, name),
      heading("Accesses, the most frequent first"),
      grid(
        "Accesses",
        ["variable", "does", "line"],
        accesses
          .slice(0, ACCESSES_SHOWN)
          .map((one) => [
            memory.nameAt(one.section, one.offset),
            verbText(one.verbs),
            this.links.line(one.section, one.section.lineOf(one.offset)),
          ]),
      ),
      more > 0 ? el("p", { class: "faint" }, `and ${number.format(more)} more`) : null,
      excerpts.length
        ? [heading("In source and code"), few(excerpts, EXCERPTS_SHOWN, (one) => this.links.excerpt(one, memory))]
        : null,
    ];
  }
}
