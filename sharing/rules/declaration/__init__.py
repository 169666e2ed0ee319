"""Rules that speak from declarations alone; they need a program and no layout."""
