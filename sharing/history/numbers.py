"""The numbers by which a series of results is judged.  How they are stated: ``sharing.basics.numbers``.

How many orders are drawn, and how many are enumerated, decides how exact a chance is: these bounds stand where they
are used.
"""

from __future__ import annotations

from typing import Annotated

from sharing.basics.numbers import About, Origin

FAR: Annotated[
    float,
    About("standard deviations from the level around", Origin.CHOSEN, "a result that stands apart: no normal noise"),
] = 6.0
FAR_LEAST: Annotated[float, About("share of the level", Origin.CHOSEN, "the same, where results hardly differ")] = 0.01
BEST_GUESS: Annotated[
    float, About("chance", Origin.CHOSEN, "below, the clearest place is named where no step is certain")
] = 0.5
FEWEST_RESULTS: Annotated[int, About("results", Origin.CHOSEN, "fewer leave too little to judge the spread by")] = 6
MIN_REVISIONS: Annotated[
    int, About("revisions on each side of a step", Origin.CHOSEN, "one alone is an outlier as likely")
] = 2
SLOPE_REVISIONS: Annotated[
    int, About("revisions", Origin.CHOSEN, "of steps one way, to be told from a slope: four levels at least")
] = 8
FEWEST_AROUND: Annotated[int, About("results", Origin.CHOSEN, "of fewer none stands apart from the others")] = 5
LONG_SERIES: Annotated[
    int,
    About(
        "results",
        Origin.CHOSEN,
        "fewer show neither how neighbours depend on each other nor a level that comes back; to look costs power",
    ),
] = 20
FITTED_AWAY: Annotated[
    float,
    About(
        "correlation times results",
        Origin.PAPER,
        "what fitting a mean takes from the correlation r of what it leaves over: 1 + 3 r (Kendall 1954)",
    ),
] = 3.0
STEP_PRICE: Annotated[
    float,
    About(
        "logarithms of the number of results",
        Origin.PAPER,
        "what a step must gain in likelihood, twice, to be told from noise (Zhang and Siegmund 2007)",
    ),
] = 3.0
MOST_STEPS: Annotated[
    int, About("steps", Origin.CHOSEN, "that are fitted at once; of more, the rest is found between these")
] = 5
MOST_CORRELATION: Annotated[
    float, About("correlation", Origin.CHOSEN, "above it a series has no level that a step could change")
] = 0.9
ALL_STRETCHES: Annotated[
    int, About("revisions", Origin.CHOSEN, "of more, only some lengths of stretches are compared: time grows squared")
] = 120
CLIP: Annotated[
    float,
    About(
        "standard deviations by the median", Origin.PAPER, "Huber's bend, out where 98 % of normal noise stays as it is"
    ),
] = 2.5
AROUND: Annotated[
    int,
    About(
        "revisions on each side",
        Origin.CHOSEN,
        "whose median tells a wild result from a step: two wild ones in a row leave it as it is, three are a step",
    ),
] = 2
SIGMA: Annotated[
    float,
    About("median deviations in a standard deviation", Origin.PAPER, "the normal distribution: 1 / 0.6745"),
] = 1.4826
ALONE: Annotated[float, About("share of the squares", Origin.CHOSEN, "that one cell has, to be the one that steps")] = (
    0.7
)
BLUR: Annotated[
    float,
    About(
        "squared standard deviations",
        Origin.CHOSEN,
        "what the clearest split of a cell without a step comes to: 2 squared",
    ),
] = 4.0
