"""Uses of a variable among tokens: what is one, and what only looks like one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharing.fix.declaration import read_declaration
from sharing.fix.tokens import Kind, Refused, Source, tokens
from sharing.fix.uses import uses

# Every use of the variable n is written @n; all other n mean something else.
CASES = {
    "plain": "int f(void) { return @n + -@n * @n; }",
    "member": "int f(struct s *n2, struct s m) { return n2->n + m.n + @n; }",
    "record": "struct s { int n; int a[8]; }; int g = sizeof(@n);",
    "one of several members": "struct s { int a, n, *b; }; int f(void) { return @n; }",
    "one of several locals": "int f(void) { @n = 1; { int a = g(1, 2), n = 2, b; return n; } }",
    "locals behind a block": "int f(void) { { @n = 2; } { int a[] = {1}, n = 2; return n; } }",
    "statement behind a block": "int f(int b) { if (@n) { int a; } b = 1, @n = 2; return b; }",
    "one of several arguments": "int f(int a) { return g(a, @n) + h(1, @n, a); }",
    "comma": "int f(int a) { a = 1, @n = 2; for (a = 0, @n = 0; ; ) return g((a, @n)); }",
    "elements": "int a[] = { 1, @n, 2 };  int f(void) { int a[] = { b, @n }; }",
    "enumerator of another enum": "enum e { a, b }; void f(void) { @n = a; }",
    "parameter": "int f(int n) { return n; } int g(void) { return @n; }",
    "parameter of pointer type": "int f(const struct s *n) { return n->n; } int g(void) { return @n; }",
    "prototype": "int f(int n, char *n2); int g(void) { return @n; }",
    "local": "int f(void) { if (@n) { long n = 1; return n; } return @n; }",
    "local pointer": "int f(void) { @n = 2; { struct s *n = 0; g(n); } return @n; }",
    "product": "int f(int a) { return a * @n; }",
    "product as an argument": "int f(int a) { return g(a * @n, a & @n); }",
    "label": "int f(void) { goto n; n: return @n; }",
    "tag": "struct n *f(struct n *p) { @n++; return p; }",
    "string and comment": 'char *s = "n"; /* n */ // n\nint f(void) { return @n; }',
    "cast": "int f(void) { return (int)@n + (char) @n; }",
    "initialiser": "int *p = &@n; struct s t = { .n = 1, .m = &@n };",
    "macro body": "#define GET() (@n + p->n)\nint f(void) { return GET(); }",
    "macro where the name is a parameter": "void f(struct s *n) {\n#define X(a) n->a\n}\nint g() { return @n; }",
    "include and error": '#include "n"\n#error n\nint f(void) { return @n; }',
    "condition": "#if n\nint f(void) { return @n; }\n#endif",
    "branches that open one brace": "int f() {\n#if A\nif (a) {\n#else\nif (@n) {\n#endif\n} }\nenum e g() { @n; }",
    "member of a type of its own": "struct s { struct { int a; } n; int b; }; int f(void) { return @n; }",
    "sizeof": "int f(void) { return sizeof @n + sizeof(@n) + sizeof n2; }",
    "case": "int f(int x) { switch (x) { case 1: @n = 1; break; default: @n++; } return 0; }",
    "for": "int f(void) { for (@n = 0; @n < 3; @n++) g(@n); return 0; }",
    "designator": "struct s f(void) { return (struct s){ .n = @n }; }",
    "method": "class c { public: int get() const { return @n; } int a; };",
    "namespace": "namespace a { int f() { return @n; } }",
    "other namespace": "int f() { return other::n + ::@n; }",
    "qualified": "int f() { return ::@n + other::n; }",
    "lambda": "auto f = [](int x) { return x + @n; };",
    "constructor": "struct c { c() : a(@n) { b = @n; } int a, b; };",
    "raw string": 'auto s = R"x(n " )" n)x"; int f() { return @n; }',
    "digit separators": "int f() { return 1'000'000 + @n; }",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_a_use_is_told_from_other_things_of_the_name(text: str) -> None:
    plain = text.replace("@", "")
    expected, removed = [], 0
    for at, char in enumerate(text):
        if char == "@":
            expected.append(at - removed)
            removed += 1
    assert [token.begin for token in uses(Source("a.c", plain.encode()), "n", frozenset())] == expected


def test_a_qualifier_has_to_name_the_scope_of_the_variable() -> None:
    text = "int f() { return n + a::n + a::b::n + ::a::b::n + b::n + c::n + a::c::n + b::a::n; }"
    found = uses(Source("a.cc", text.encode()), "a::(anonymous namespace)::b::n", frozenset())
    assert [text[: t.begin].rpartition(" ")[2] for t in found] == ["", "a::", "a::b::", "::a::b::", "b::"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("#define n other\n", "a macro or its parameter"),
        ("#define X(n) n\n", "a macro or its parameter"),
        ("#define X() #n\n", "builds names"),
        ("class c { int n; int get() { return n; } };", "a class has a member"),
        ("void f(void) {\n#if A\n static int n;\n#else\n static int n;\n#endif\n}", "branch of #if"),
        ("int n;\nint n;", "another branch"),
    ],
)
def test_what_cannot_be_told_is_refused(text: str, why: str) -> None:
    declared = frozenset() if "class" in text or "int n" not in text else frozenset({text.index("int n") + 4})
    with pytest.raises(Refused, match=why):
        uses(Source("a.c", text.encode()), "n", declared)


@pytest.mark.parametrize(
    ("text", "specifiers", "names"),
    [
        ("static const long a = 1, *b[2], c;", "static const long", ["a", "b", "c"]),
        ("std::map<int, std::vector<int>> a;", "std :: map < int , std :: vector < int > >", ["a"]),
        ("int (*a)(int, char), b;", "int", ["a", "b"]),
        ("__attribute__((used)) static int a = sizeof(int[2]);", "__attribute__ ( ( used ) ) static int", ["a"]),
        ("static struct { int x, y; } a = {1, 2}, b;", "static struct { int x , y ; }", ["a", "b"]),
        ("char *const *volatile a;", "char", ["a"]),
        ("unsigned long const a{3};", "unsigned long const", ["a"]),
        ("alignas(64) std::atomic<long> a{0};", "alignas ( 64 ) std :: atomic < long >", ["a"]),
        ("[[maybe_unused]] static auto a = f<int>(3);", "[ [ maybe_unused ] ] static auto", ["a"]),
    ],
)
def test_a_declaration_is_split_into_its_parts(text: str, specifiers: str, names: list[str]) -> None:
    at = next(t.begin for t in tokens(text.encode()) if t.text == b"a")
    statement = read_declaration(Source("a.c", text.encode()), 0, at, "a")
    assert " ".join(token.text.decode() for token in statement.specifiers) == specifiers
    assert [d.name.text.decode() for d in statement.declarators] == names
    assert statement.end == len(text)


@given(st.text(alphabet="ab1 \n\t\\\"'/*#(){};=R.<>", max_size=60))
def test_any_bytes_are_tokens_in_order_or_refused(text: str) -> None:
    data = text.encode()
    try:
        found = tokens(data)
    except Refused:
        return
    end = 0
    for token in found:
        assert end <= token.begin < token.end
        assert data[token.begin : token.end] == token.text
        if token.kind is Kind.NAME:
            assert token.text.decode().isidentifier()
        end = token.end
    assert end <= len(data)


@pytest.mark.parametrize("piece", [b"/*", b'"', b"'", b'R"(', b"#define \\\n", b"(", b"n", b"\\", b"<"])
def test_hostile_repetition_takes_linear_time(piece: bytes) -> None:
    start = time.process_time()
    source = Source("a.c", piece * 50_000)
    try:
        uses(source, "n", frozenset())
        read_declaration(source, 0, 0, "n")
    except Refused:
        pass
    assert time.process_time() - start < 5
