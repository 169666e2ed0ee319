// The columns of the tables of findings, variables and functions.

const findingColumns = [
  {
    title: "severity",
    class: "narrow",
    key: (row) => -SEVERITIES.indexOf(row.severity),
    text: (row) => row.severity,
    cell: (row) => badge(row.severity),
  },
  {
    title: "variables",
    class: "wide",
    text: (row) => row.names.join(" / "),
    cell: (row) => [
      el("a", { href: `#${row.id}` }, row.names.join(" / ")),
      el("small", {}, [row.place, row.where, row.rule].filter(Boolean).join(", ")),
    ],
  },
  {
    title: "time",
    class: "narrow number rest",
    downFirst: true,
    key: (row) => row.share ?? -1,
    text: (row) => (row.share === null ? "" : percent(row.share)),
  },
  { title: "rule", class: "rest long", text: (row) => row.rule },
  { title: "confidence", class: "rest", text: (row) => row.confidence },
  { title: "file", class: "rest", text: (row) => row.file },
  { title: "section", class: "rest", text: (row) => row.section },
];

const variableColumns = [
  {
    title: "variable",
    class: "wide",
    text: (row) => row.name,
    cell: (row) => [
      el(
        "a",
        {
          href: `#${variableHash(row)}`,
        },
        row.name,
      ),
      el("small", {}, [row.type?.name, row.source].filter(Boolean).join(", ")),
    ],
  },
  {
    title: "bytes",
    class: "narrow number",
    downFirst: true,
    key: (row) => row.size,
    text: (row) => number.format(row.size),
  },
  {
    title: "its lines",
    class: "narrow rest",
    downFirst: true,
    key: (row) => row.heat,
    text: (row) => HEAT_WORDS[row.heat],
  },
  { title: "address", class: "narrow rest", key: (row) => row.order, text: (row) => row.section.address(row.offset) },
  { title: "section", class: "narrow rest", text: (row) => row.section.name },
];

const functionColumns = [
  {
    title: "function",
    class: "wide",
    text: (row) => row.name,
    cell: (row) => [
      el("a", { href: `#${functionHash(row.memory, row.name)}` }, row.name),
      el("small", {}, row.memory.threadsOf(row.row).join(", ")),
    ],
  },
  { title: "writes", class: "narrow number", downFirst: true, text: (row) => row.writes },
  { title: "reads", class: "narrow number rest", downFirst: true, text: (row) => row.reads },
  { title: "locks", class: "narrow number rest", downFirst: true, text: (row) => row.locks },
];
