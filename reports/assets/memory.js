// The map's columns as sections, lines, members and accesses, looked up when they are shown.

const READS = 1,
  WRITES = 2,
  ATOMIC = 4,
  LOCKS = 8,
  SERIES = 16;
const VERBS = [
  [LOCKS, "locks"],
  [WRITES, "writes"],
  [READS, "reads"],
  [ATOMIC, "atomic"],
];
const verbText = (verbs) => {
  const words = VERBS.filter(([bit]) => verbs & bit).map(([, word]) => word);
  return words.join(", ") + (verbs & SERIES ? ", one of several elements" : "");
};

function offsets(distances) {
  const out = new Float64Array(distances.length);
  let at = 0;
  for (let i = 0; i < distances.length; i++) out[i] = at += distances[i];
  return out;
}

/** Index of the first value that is not less than the wanted one. */
function lowerBound(values, wanted) {
  let low = 0,
    high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

// What stands behind the # of the page's address, for whatever can be shown.
const ofMap = (memory) => (memory.number ? `@${memory.number}` : "");
const lineHash = (section, line) => `line=${section.address(section.offsetOf(line))}${ofMap(section.memory)}`;
const variableHash = ({ section, offset }) => `variable=${section.address(offset)}${ofMap(section.memory)}`;
const functionHash = (memory, name) => `function=${encodeURIComponent(name)}${ofMap(memory)}`;

/** Cells of the map: what a line is to those who look for trouble. */
const NOTHING = 0,
  COLD = 1,
  WARM = 2,
  HOT_READ = 3,
  HOT_WRITE = 4;
const HEAT_WORDS = ["no variable", "not busy", "in repeated code", "read often", "written often"];

class Section {
  constructor(memory, data) {
    this.memory = memory;
    this.name = data.name;
    this.start = BigInt(data.address);
    this.size = data.size;
    this.data = data;
    this.lineSize = memory.lineSize;
    this.lead = Number(this.start % BigInt(this.lineSize)); // bytes of the first line in front of the section
    this.lines = Math.ceil((this.lead + this.size) / this.lineSize);
    this.starts = offsets(data.variables.distances);
    this.touched = offsets(data.accesses.distances);
    this.hot = offsets(data.heat.distances);
    this.reach = new Float64Array(this.starts.length); // the furthest end of a variable up to each
    this.starts.forEach((start, at) => {
      this.reach[at] = Math.max(at ? this.reach[at - 1] : 0, start + data.variables.sizes[at]);
    });
    this.widest = data.accesses.sizes.reduce((most, size) => Math.max(most, Math.min(size, 4096)), 0);
    this.heat = this.heatOfLines();
    this.trouble = new Uint8Array(this.lines); // rank of the worst finding, from 1
  }

  lineOf(offset) {
    return Math.floor((this.lead + offset) / this.lineSize);
  }

  /** Offset of a line's first byte; of the first line it may be negative. */
  offsetOf(line) {
    return line * this.lineSize - this.lead;
  }

  address(offset) {
    return hex(this.start + BigInt(offset));
  }

  /** Offset of an address of this section, or -1; the first line begins in front of it. */
  find(address) {
    const offset = address - this.start;
    return offset >= BigInt(-this.lead) && offset < BigInt(this.size) ? Number(offset) : null;
  }

  heatOfLines() {
    const heat = new Uint8Array(this.lines);
    const sizes = this.data.variables.sizes;
    this.starts.forEach((start, at) => {
      const last = this.lineOf(start + Math.max(sizes[at], 1) - 1);
      heat.fill(COLD, Math.max(this.lineOf(start), 0), Math.min(last + 1, this.lines));
    });
    this.hot.forEach((offset, at) => {
      const line = this.lineOf(offset);
      const writes = this.data.heat.writes[at],
        reads = this.data.heat.reads[at];
      const rank = writes > 1 ? HOT_WRITE : reads > 1 ? HOT_READ : WARM;
      if (rank > heat[line]) heat[line] = rank;
    });
    return heat;
  }

  /** Heat of the busiest line that a variable is on. */
  heatOf({ offset, size }) {
    const last = this.lineOf(offset + Math.max(size, 1) - 1);
    let most = NOTHING;
    for (let line = this.lineOf(offset); line <= last && most < HOT_WRITE; line++)
      most = Math.max(most, this.heat[line]);
    return most;
  }

  /** Rows of variables with a byte in [start, end). */
  variablesIn(start, end) {
    const rows = [];
    const last = lowerBound(this.starts, end);
    for (let at = last - 1; at >= 0 && this.reach[at] > start; at--) {
      if (this.starts[at] + this.data.variables.sizes[at] > start) rows.unshift(at);
    }
    return rows;
  }

  /** Accesses to [start, end): {offset, size, function, verbs, weight}. */
  accessesIn(start, end) {
    const { sizes, functions, verbs, weights } = this.data.accesses;
    const out = [];
    for (
      let at = lowerBound(this.touched, start - this.widest);
      at < this.touched.length && this.touched[at] < end;
      at++
    ) {
      const offset = this.touched[at],
        size = Math.max(sizes[at], 1);
      if (offset + size > start)
        out.push({ offset, size, function: functions[at], verbs: verbs[at], weight: weights[at] });
    }
    return out.sort((a, b) => b.weight - a.weight);
  }

  /** Heat of [start, end) as {writes, reads}. */
  heatIn(start, end) {
    const found = { writes: 0, reads: 0 };
    for (let at = lowerBound(this.hot, start); at < this.hot.length && this.hot[at] < end; at++) {
      found.writes = Math.max(found.writes, this.data.heat.writes[at]);
      found.reads = Math.max(found.reads, this.data.heat.reads[at]);
    }
    return found;
  }

  /** For each byte of a line, whether code that is repeated accesses it. */
  busyBytes(line) {
    const first = this.offsetOf(line);
    const busy = new Uint8Array(this.lineSize);
    for (const { offset, size } of this.accessesIn(first, first + this.lineSize)) {
      const { writes, reads } = this.heatIn(offset, offset + 1);
      if (writes + reads) busy.fill(1, Math.max(offset - first, 0), Math.max(offset + size - first, 0));
    }
    return busy;
  }

  variable(row) {
    const { names, sizes, types, sources } = this.data.variables;
    const type = types[row] >= 0 ? this.memory.data.types[types[row]] : null;
    return {
      section: this,
      row,
      name: names[row],
      offset: this.starts[row],
      size: sizes[row],
      type,
      source: sources[row],
    };
  }

  /** The bytes of a line as runs of one owner: {start, end, name, type, variable, kind}, offsets within the line. */
  spans(line) {
    const first = this.offsetOf(line);
    const owner = new Array(this.lineSize).fill(null);
    for (const row of this.variablesIn(first, first + this.lineSize)) {
      const variable = this.variable(row);
      for (const part of partsOf(variable, first, first + this.lineSize)) {
        const end = Math.min(part.end - first, this.lineSize);
        for (let at = Math.max(part.start - first, 0); at < end; at++) owner[at] ??= part;
      }
    }
    const spans = [];
    owner.forEach((part, at) => {
      const last = spans[spans.length - 1];
      const outside = first + at < 0 || first + at >= this.size;
      const kind = part ? part.kind : outside ? "outside" : "padding";
      if (last && last.part === part && last.kind === kind) last.end = at + 1;
      else spans.push({ start: at, end: at + 1, part, kind });
    });
    return spans.map(({ start, end, part, kind }) => ({
      start,
      end,
      kind,
      variable: part?.variable ?? null,
      type: part?.type ?? "",
      name: spanName(part, kind, first + start),
    }));
  }
}

function spanName(part, kind, offset) {
  if (!part) return kind === "outside" ? "another section" : "no variable";
  if (kind === "hole") return `hole in ${part.variable.name}`;
  const inside = offset - part.variable.offset;
  return kind === "variable" && inside ? `${part.variable.name}+${hex(inside)}` : part.name;
}

/** What a variable consists of within [low, high): members, then what no member covers. */
function partsOf(variable, low, high) {
  const parts = [];
  const members = variable.type?.members ?? [];
  for (const [path, offset, size, type, stride, count] of members) {
    const several = stride > 0 && path.includes("[]");
    const begin = variable.offset + offset;
    const from = several ? Math.max(Math.floor((low - begin - size) / stride) + 1, 0) : 0;
    const to = several ? Math.min(Math.ceil((high - begin) / stride), count) : 1;
    for (let at = from; at < to; at++) {
      const start = begin + at * stride * (several ? 1 : 0);
      if (start >= high || start + size <= low) continue;
      const member = several ? path.replace("[]", `[${at}]`) : path;
      const name = !member ? variable.name : variable.name + (member.startsWith("[") ? "" : ".") + member;
      parts.push({ kind: "member", variable, name, type, start, end: start + size });
    }
  }
  const whole = { variable, name: variable.name, type: variable.type?.name ?? "", start: variable.offset };
  const end = variable.offset + Math.max(variable.size, 1);
  // Behind what the type tells, as in an array without bounds, there is more than holes.
  if (members.length) parts.push({ ...whole, kind: "hole", end: Math.min(variable.offset + variable.type.told, end) });
  parts.push({ ...whole, kind: "variable", end });
  return parts;
}

class Memory {
  constructor(data, number) {
    this.data = data;
    this.number = number; // of the map in the page
    this.lineSize = data.line_size;
    this.sections = data.sections.map((section) => new Section(this, section));
    this.functionNumber = new Map(data.functions.map((name, at) => [name, at]));
    this.sampled = new Map(data.sampled.map((line) => [line.address, line]));
  }

  /** {section, offset} of an address, null where no writable section has it. */
  at(address) {
    const wanted = BigInt(address);
    for (const section of this.sections) {
      const offset = section.find(wanted);
      if (offset !== null) return { section, offset };
    }
    return null;
  }

  threadsOf(row) {
    return this.data.thread_sets[this.data.reached[row]].map((at) => this.data.threads[at]);
  }

  /** All accesses of a function, the heaviest first. */
  accessesOf(row) {
    const out = [];
    for (const section of this.sections) {
      const { functions, sizes, verbs, weights } = section.data.accesses;
      functions.forEach((found, at) => {
        if (found === row)
          out.push({ section, offset: section.touched[at], size: sizes[at], verbs: verbs[at], weight: weights[at] });
      });
    }
    return out.sort((a, b) => b.weight - a.weight);
  }

  /** What stands at an offset: "name.member", the variable's name with a distance, or the address. */
  nameAt(section, offset) {
    const rows = section.variablesIn(offset, offset + 1);
    if (!rows.length) return section.address(offset);
    const variable = section.variable(rows[rows.length - 1]);
    const part = partsOf(variable, offset, offset + 1)[0];
    if (part.kind === "member") return part.name;
    return offset > variable.offset ? `${variable.name}+${hex(offset - variable.offset)}` : variable.name;
  }
}
