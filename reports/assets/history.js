// The page of many builds: its charts and tables need no script, the colours can be chosen.

byId("app").prepend(el("nav", { "aria-label": "Page" }, themeButton()));
