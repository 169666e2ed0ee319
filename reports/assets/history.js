// The page of many builds: its charts and tables need no script, the colours can be chosen.

byId("app").prepend(el("nav", { "aria-label": "Page" }, themeButton()));
// Where a chart is wider than the window, the first step is in sight.
for (const chart of document.querySelectorAll(".picture")) {
  const step = chart.querySelector("line.slower, line.faster, line.changed");
  if (!step) continue;
  const place = step.getBoundingClientRect().left - chart.getBoundingClientRect().left;
  chart.scrollLeft = place - chart.clientWidth / 2;
}
