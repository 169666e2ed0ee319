"""The one report that every emitter is tested with: several findings, layers and remedies, and hostile names."""

from __future__ import annotations

from sharing.model import (
    Confidence,
    Coverage,
    Evidence,
    Finding,
    LinePicture,
    LineRef,
    Participant,
    Related,
    Remedy,
    Report,
    RuleInfo,
    Severity,
    Slice,
    SourceEdit,
    Target,
    Verdict,
)
from sharing.model.finding import SCHEMA

HOSTILE = "evil\x1b[31m\n<script>alert('x')</script>[bold]\u202egnp`|.exe"
LONG = (
    "storage::detail::basic_registry<std::pair<const std::basic_string<char>, std::unique_ptr<storage::Handler>>,"
    " std::less<void>>::instance()::singleton"
)

LOCK_BESIDE_LIST = Finding(
    id="LM-4c1f0a9be2d7",
    rule="hot-lock-shares-line",
    severity=Severity.CRITICAL,
    confidence=Confidence.STATIC,
    verdict=Verdict.FALSE_SHARING,
    line=LineRef("0x1074200", 64),
    participants=(
        Participant(
            name="LOCK_open",
            address="0x1074200",
            size=48,
            bytes=((0, 48),),
            role="mutex",
            source="sql/sql_base.cc:112",
            hot=((0, 16),),
            type="mysql_mutex_t",
            member="m_mutex",
            lockers=("tc_acquire_table", "tc_release_table", "close_cached_tables", "open_tables", "tdc_remove_table"),
        ),
        Participant(
            name="unused_tables",
            address="0x1074230",
            size=8,
            bytes=((48, 56),),
            role="list head",
            source="sql/table_cache.cc:58",
            hot=((48, 56),),
            type="TABLE *",
            readers=("tc_acquire_table",),
            writers=("tc_release_table", "tc_acquire_table"),
        ),
    ),
    message=(
        "LOCK_open (bytes 0-15 are written by every lock operation) and unused_tables (bytes 48-55) share line "
        "0x1074200: each lock by one core takes the list head from all others."
    ),
    evidence=(
        Evidence(Confidence.LAYOUT, "LOCK_open ends at byte 48 and unused_tables begins there"),
        Evidence(
            Confidence.STATIC, "5 functions lock LOCK_open at 9 sites, 2 of them in loops; 3 thread roots reach them"
        ),
    ),
    remedies=(
        Remedy(
            kind="align and pad",
            text="give LOCK_open a line of its own",
            edit="struct alignas(64) PaddedLock { mysql_mutex_t lock; char pad[16]; };\nPaddedLock LOCK_open;",
            language="c++",
            cost_bytes=16,
            breaks_abi=False,
            protects_tail=True,
        ),
        Remedy("move", "declare unused_tables beside the data that it heads", "", "c++", 0, False, False),
    ),
    picture=(
        LinePicture(
            "0x1074200",
            64,
            (
                Slice("LOCK_open.m_mutex", 0, 16, True, "a"),
                Slice("LOCK_open.m_mutex", 16, 40, False, "a"),
                Slice("LOCK_open", 40, 48, False, "c"),
                Slice("unused_tables", 48, 56, True, "b"),
                Slice("", 56, 64, False, "."),
            ),
        ),
    ),
    score=81.5,
)

HOSTILE_NAMES = Finding(
    id="LM-00ff00ff00ff",
    rule="written-beside-read-mostly",
    severity=Severity.HIGH,
    confidence=Confidence.DERIVED,
    verdict=Verdict.READ_MOSTLY_DISTURBED,
    line=LineRef("0x20c0", 64),
    participants=(
        Participant(
            name=HOSTILE,
            address="0x20c4",
            size=4,
            bytes=((4, 8),),
            role="counter",
            source="src/a\x07b.c:3",
            hot=((4, 8),),
            writers=(HOSTILE, LONG),
        ),
        Participant(
            name=LONG, address="0x20c8", size=40, bytes=((8, 48),), role="read-mostly data", source="", readers=(LONG,)
        ),
    ),
    message=f"{HOSTILE} is counted beside {LONG}.",
    evidence=(Evidence(Confidence.DERIVED, f"92% of the stores come from {HOSTILE}"),),
    remedies=(),
    picture=(
        LinePicture(
            "0x20c0",
            64,
            (
                Slice("?", 0, 4, False, "?"),
                Slice(HOSTILE, 4, 8, True, "a"),
                Slice(LONG, 8, 48, False, "b"),
                Slice("", 48, 56, False, "."),
                Slice("neighbour", 56, 64, False, "c"),
            ),
        ),
    ),
    score=12.0,
)

PAIR_OF_LINES = Finding(
    id="LM-77aa77aa77aa",
    rule="adjacent-line-pair",
    severity=Severity.LOW,
    confidence=Confidence.LAYOUT,
    verdict=Verdict.ADJACENT_PAIR,
    line=LineRef("0x3000", 128),
    participants=(
        Participant("head", "0x3038", 8, ((56, 64),), "counter", "ring.c:10", ((56, 64),), writers=("produce",)),
        Participant("tail", "0x3040", 8, ((64, 72),), "counter", "ring.c:11", ((64, 72),), writers=("consume",)),
    ),
    message="head and tail are on two lines that are fetched together.",
    evidence=(Evidence(Confidence.LAYOUT, "both lines belong to the 128-byte pair at 0x3000"),),
    remedies=(
        Remedy("align", "keep them 128 bytes apart", "_Alignas(128) unsigned long tail;", "c", 120, True, False),
    ),
    picture=(
        LinePicture("0x3000", 64, (Slice("", 0, 56, False, "."), Slice("head", 56, 64, True, "a"))),
        LinePicture("0x3040", 64, (Slice("tail", 0, 8, True, "b"), Slice("?", 8, 64, False, "?"))),
    ),
    score=3.25,
)

BIG_LINE = Finding(
    id="LM-256256256256",
    rule="safe-by-luck",
    severity=Severity.NOTE,
    confidence=Confidence.LAYOUT,
    verdict=Verdict.FRAGILE,
    line=LineRef("0x10000", 256),
    participants=(
        Participant("queue", "0x10000", 200, ((0, 200),), "mutex", "queue.c:7", ((0, 8), (96, 104))),
        Participant("flag", "0x100f8", 8, ((248, 256),), "flag", "queue.c:9"),
    ),
    message="queue and flag share a line at 12 of the 32 possible shifts of .data.",
    evidence=(),
    remedies=(),
    picture=(
        LinePicture(
            "0x10000",
            256,
            (
                Slice("queue", 0, 8, True, "a"),
                Slice("queue", 8, 96, False, "a"),
                Slice("queue", 96, 104, True, "a"),
                Slice("queue", 104, 200, False, "a"),
                Slice("", 200, 248, False, "."),
                Slice("flag", 248, 256, False, "b"),
            ),
        ),
    ),
    score=0.375,
)

FROM_SOURCE = Finding(
    id="LM-5ea15ea15ea1",
    rule="hot-lock-shares-line",
    severity=Severity.HIGH,
    confidence=Confidence.STATIC,
    verdict=Verdict.FALSE_SHARING,
    line=LineRef("0x10040", 64, "a line of .bss"),
    participants=(
        Participant(
            name="cache_lock",
            address="0x10040",
            size=40,
            bytes=((0, 40),),
            role="mutex",
            source="/src/server/cache/table_cache.cc:27:12",
            hot=((0, 16),),
            type="pthread_mutex_t",
            lockers=("acquire(unsigned long)", "release(unsigned long)"),
            identity="cache_lock",
        ),
        Participant(
            name="unused",
            address="0x10068",
            size=8,
            bytes=((40, 48),),
            role="list head",
            source="/src/server/cache/table_cache.cc:28:15",
            hot=((40, 48),),
            type="Table *",
            writers=("release(unsigned long)",),
            identity="unused@/src/server/cache/table_cache.cc",
        ),
        Participant(name="late", address="0x10070", size=4, bytes=((48, 52),), role="data", source="", identity="late"),
    ),
    message="cache_lock, bytes 0-15, and unused, bytes 40-47, share a line of .bss.",
    evidence=(Evidence(Confidence.LAYOUT, "gcc -O2 emits cache/table_cache.cc in reverse order of definition"),),
    remedies=(
        Remedy(
            kind="pad-type",
            text="give {cache_lock} a type of its own",
            edit="alignas(64) Lock cache_lock;",
            language="c++",
            cost_bytes=24,
            breaks_abi=False,
            protects_tail=True,
            edits=(
                SourceEdit("/src/server/cache/table_cache.cc", 812, 827, "Line_lock", 27, 1, 27, 16, "0" * 64),
                SourceEdit("/src/server/cache/table_cache.cc", 640, 640, "struct Line_lock {\n};\n", 20, 1, 20, 1),
                SourceEdit("/src/server/cache/lock<1>.h", 10, 14, "x\ud800"),
            ),
        ),
        Remedy("move", "declare unused elsewhere", "", "c++", 0, False, False),
    ),
    picture=(
        LinePicture(
            "0x10040",
            64,
            (
                Slice("cache_lock", 0, 16, True, "a"),
                Slice("cache_lock", 16, 40, False, "a"),
                Slice("unused", 40, 48, True, "b"),
                Slice("late", 48, 52, False, "c"),
                Slice("", 52, 64, False, "."),
            ),
        ),
        LinePicture("0x10080", 64, (Slice("?", 0, 64, False, "?"),)),
    ),
    score=7.5,
    related=(
        Related("cache_lock", "acquire(unsigned long)", "locks", "/src/server/cache/table_cache.cc:88:3"),
        Related(
            "cache_lock", "release(unsigned long)", "locks", "/src/server/cache/table_cache.cc:97:3", ("cache_lock",)
        ),
        Related("cache_lock", "purge()", "locks", "/src/server/cache/purge.cc:12:3"),
        Related("unused", "release(unsigned long)", "writes", "/src/server/cache/table_cache.cc:99:5", ("cache_lock",)),
        Related("unused", HOSTILE, "updates", "", ("cache_lock", "stripes[i % 16].lock", "third")),
    ),
)

CHECKED = Report(
    schema=SCHEMA,
    command="check",
    targets=(Target("/src/server/main.cc", "", "x86-64", "executable", "", 64, "the source"),),
    coverage=Coverage({"units": 3, "variables": 41}, ("src/broken.c: 'gone.h' file not found",)),
    findings=(FROM_SOURCE,),
    known=3,
    baseline="main at 3f2a9c0d1122",
)

REPORT = Report(
    schema=SCHEMA,
    command="audit",
    targets=(
        Target(
            path="build/server",
            member="",
            arch="x86-64",
            kind="pie",
            build_id="3f2a9c0d11",
            line_size=64,
            debug="the file itself (DWARF 5)",
        ),
        Target(
            path="lib\x1b]0;x\x07.a",
            member="a.o",
            arch="s390x",
            kind="relocatable",
            build_id="",
            line_size=256,
            debug="",
        ),
    ),
    coverage=Coverage(
        counts={"access_sites": 231112, "functions": 12001, "lines": 41212, "lock_calls": 0, "variables": 18311},
        notes=("4 functions could not be decoded", "unit \x1b[2Jbad.c: type cycle"),
    ),
    findings=(BIG_LINE, PAIR_OF_LINES, LOCK_BESIDE_LIST, HOSTILE_NAMES),
    suppressed=2,
    hidden=1120,
    unsure=14,
    incomplete=True,
)

EMPTY = Report(SCHEMA, "audit", (REPORT.targets[0],), Coverage({"lines": 12, "variables": 3}, ()), ())

RULES = (
    RuleInfo(
        "hot-lock-shares-line",
        "Hot lock shares a line with data",
        "A lock that is taken often is on the line of other data.",
        "Hot lock shares a line with data.\n\nWhat it does: finds `locks` with <company>.\n",
        Severity.HIGH,
    ),
    RuleInfo(
        "safe-by-luck", "Safe by luck", "The next edit may bring two hot objects together.", "Page.", Severity.NOTE
    ),
)
