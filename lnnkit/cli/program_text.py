"""Commands on a program's text: ``check``, ``fmt``, ``show``; ``import`` from first-order logic, ``export`` for other
solvers; ``grammar``, and ``lsp`` for editors. Checking imports neither torch nor networkx."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, require_output
from lnnkit.cli.streams import STANDARD_INPUT, base_of, load, read
from lnnkit.data.files import is_model
from lnnkit.errors import Error, ProgramError
from lnnkit.markup.pages import counted
from lnnkit.output import write_text
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.syntax import ast


def add_check(parent: CommandParser) -> None:
    text = """\
say what is wrong with a program and its data

Reads a program, all that it imports and its tables, and says everything that is wrong with them.
Nothing is inferred. Warnings alone leave the exit code at 0.

  lnnkit check triage.lnn
  lnnkit check triage.lnn --rows person    can each person be decided alone, as `lnnkit score` does?
  lnnkit check triage.lnn --format json | jq '.diagnostics[].message'
"""
    parser = parent.command("check", _check, text)
    said = "text on standard error (default), or one JSON object on standard output"
    parser.choice("--format", ("text", "json"), said)
    said = (
        "also say whether the entities of a sort can be decided one by one, or what links two of them; the tables "
        "about them are not read"
    )
    parser.value("--rows", str, "SORT", said)


def _check(arguments: argparse.Namespace) -> int:
    findings = diagnostics(arguments.file, arguments.rows)
    counts = Counter(finding.severity for finding in findings)
    if arguments.format == "json":
        streams.write_json({"diagnostics": [finding.as_dict() for finding in findings]})
    else:
        streams.findings(findings)
        said = ", ".join(counted(counts[kind], kind) for kind in ("error", "warning") if counts[kind]) or "no problems"
        alone = f"; each {arguments.rows} can be decided alone" if arguments.rows and not counts["error"] else ""
        streams.write([f"{streams.printable(arguments.file)}: {said}{alone}\n"])
    return 1 if counts["error"] else 0


def diagnostics(file: str, rows: str | None = None) -> list[Diagnostic]:
    """All findings about a program, in the order of the text; with a sort of ``rows``, what links two of them too."""
    try:
        source = read(file)
    except Error as problem:
        return list(problem.diagnostics)
    from lnnkit.check.checker import check, ordered
    from lnnkit.syntax.parse import parse

    program, findings = parse(source.text, source.path)
    checked, more = check(program, base_of(source), streamed=rows)
    findings = [*findings, *more]
    if rows is not None and checked is not None and all(finding.severity != "error" for finding in findings):
        from lnnkit.kb import KnowledgeBase

        try:
            findings += KnowledgeBase(program, base_of(source), streamed=rows).row_links(rows)
        except Error as problem:
            findings += problem.diagnostics
    return ordered(findings, [source.path])


def add_fmt(parent: CommandParser) -> None:
    text = """\
print a program tidied, or write it back

Prints a program in its canonical form: spacing, connectives and line breaks are made even, comments and
blank lines kept. A program with syntax errors is left alone.

  lnnkit fmt triage.lnn            print the tidied program
  lnnkit fmt triage.lnn --write    tidy the file itself
"""
    parser = parent.command("fmt", _fmt, text)
    parser.flag("--write", "write FILE instead of printing, if it changes")


def _fmt(arguments: argparse.Namespace) -> int:
    if arguments.write and arguments.file == STANDARD_INPUT:
        raise streams.UsageError("--write needs a FILE: standard input cannot be written")
    if arguments.write and is_model(Path(arguments.file)):
        raise streams.UsageError("--write cannot write a model file: its exact numbers would be lost")
    source = read(arguments.file)
    from lnnkit.syntax.tidy import tidy

    tidied, findings = tidy(source.text, source.path)
    if findings:
        raise ProgramError(findings)
    if not arguments.write:
        streams.write([tidied])
    elif tidied != source.text:
        write_text(source.path, tidied)
        streams.note(f"{source.path}: tidied")
    else:
        streams.note(f"{source.path}: tidy already, not written")
    return 0


def add_show(parent: CommandParser) -> None:
    text = """\
print the rules as they stand, with their values in place

Prints the rules and axioms of a program and of what it imports, one on a line, each learnable value replaced by its
value, so that you can read what was learned. One that has no value yet stays a `?`. Arithmetic units appear as
arithmetic, debt(X) / income(X), and status registers as comparisons; where weights are not round, or truths of a
register neither 0 nor 1, the largest gap follows as the residual.

  lnnkit show trained.lnn
"""
    parent.command("show", _show, text)


def _show(arguments: argparse.Namespace) -> int:
    source = read(arguments.file)
    from lnnkit.check import check
    from lnnkit.syntax.parse import parse

    program, findings = parse(source.text, source.path)
    _, more = check(program, base_of(source), read_data=False)
    if errors := [finding for finding in (*findings, *more) if finding.severity == "error"]:
        raise ProgramError(errors)
    streams.write(_rules(program, base_of(source)))
    return 0


def _rules(program: ast.Program, base: Path) -> Iterator[str]:
    from lnnkit.check.learnables import settled
    from lnnkit.learn.parameters.unit_readout import readable
    from lnnkit.syntax.printer import format_statement

    residual = 0.0  # the largest of the rule's

    def read_out(node: ast.Expression) -> ast.Expression:
        nonlocal residual
        shown, gap = readable(node)
        residual = max(residual, gap)
        return shown

    for rule in settled(program, base, read_out):
        note = f"  # residual {residual:.2g}" if residual else ""
        residual = 0.0
        yield f"{format_statement(rule, as_written=True)}{note}\n"


def add_import(parent: CommandParser) -> None:
    text = """\
write a program for formulas of first-order logic

Reads formulas of first-order logic as people and language models write them, one a line, and writes a program that
means the same. Each liberty that is taken with the source is a warning, and a comment in the program.

  lnnkit import story.txt -o story.lnn
  lnnkit import claims.txt --skip-errors -o claims.lnn
"""
    parser = parent.command("import", _import, text, "a text with formulas; - reads standard input")
    parser.output()
    parser.flag("--skip-errors", "leave out what cannot be read, instead of writing nothing")


def _import(arguments: argparse.Namespace) -> int:
    from lnnkit.interchange.as_program import from_fol

    require_output(arguments, [arguments.file])
    source = read(arguments.file)
    imported = from_fol(source.text, source.path, skip_errors=arguments.skip_errors)
    streams.findings(imported.notes)
    streams.deliver(imported.text, arguments.output, f"lnnkit run {arguments.output}")
    return 0


def add_export(parent: CommandParser) -> None:
    text = """\
write questions in their classical reading as SMT-LIB (needs the extra `prove`)

Writes what Z3 is given where `lnnkit prove` reads a question classically, as Z3 prints it, for other solvers: the
question negated, and the instances of the statements on which it depends. The questions are FORMULAs, or else the
program's queries; one with free variables is asked for each way to bind them.

  lnnkit export policy.lnn 'Allowed(anna)' -o policy.smt2
"""
    parser = parent.command("export", _export, text)
    parser.add_argument("formulas", metavar="FORMULA", nargs="*", help="a question, instead of the program's queries")
    parser.today()
    parser.choice("--format", ("smt2",), "SMT-LIB 2")
    parser.output("write this file instead of printing")
    parser.alpha()


def _export(arguments: argparse.Namespace) -> int:
    require_output(arguments, [arguments.file])
    kb = load(arguments.file, today=arguments.today)
    require_output(arguments, kb.files)
    text, findings = kb.exported(arguments.formulas or None, alpha=arguments.alpha)
    streams.findings((*kb.warnings, *findings))
    streams.deliver(text, arguments.output)
    return 0


def add_grammar(parent: CommandParser) -> None:
    text = """\
print the grammar of the language, for editors and tools

Prints the grammar of .lnn files: as a TextMate grammar, which editors such as VS Code colour by, or as the Lark
grammar that lnnkit parses with.

  lnnkit grammar --format textmate > lnn.tmLanguage.json
  lnnkit grammar --format lark
"""
    parser = parent.command("grammar", _grammar, text, file="")
    parser.choice("--format", ("textmate", "lark"), "a TextMate grammar in JSON (default), or the Lark grammar")


def _grammar(arguments: argparse.Namespace) -> int:
    from lnnkit.syntax.grammar import grammar_file

    name = "lnn.lark" if arguments.format == "lark" else "lnn.tmLanguage.json"
    streams.write_utf8(grammar_file(name).read_text(encoding="utf-8"))
    return 0


def add_lsp(parent: CommandParser) -> None:
    text = """\
serve editors: diagnostics, hover, rename, ... (needs the extra `lsp`)

Speaks the Language Server Protocol on standard input and output, for an editor that starts it: diagnostics as
you type, hover with truth bounds, go to definition, references, rename, formatting, outline and completion.

  lnnkit lsp    the command to give to the editor; run by hand, it waits for messages
"""
    parser = parent.command("lsp", _lsp, text, file="")
    parser.flag("--stdio", "standard input and output: the only way, and the default")


def _lsp(arguments: argparse.Namespace) -> int:
    try:
        from lnnkit.language_server.server import serve
    except ImportError as problem:
        if (problem.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        message = "the language server needs the package pygls, version 2 or later, which is not installed"
        raise Error([Diagnostic("missing-package", message, 'install it with: pip install "pygls>=2"')]) from None
    serve()
    return 0
