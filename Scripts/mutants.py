#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes seeded changes in the sources of a module, and records the first of its tests that sees each.

    Scripts/mutants.py MODULE [--seed 1] [--only NUMBER...]

All changes are compiled at once, each behind a switch; those that do not compile are left out. Tests/Data/Mutants/MODULE.txt
lists them, with the test, `CRASH`, `TIME` or `survives`. Without `--seed`, the changes of the list are made again.
"""
import argparse, os, pathlib, random, re, shutil, subprocess, sys, tempfile, threading, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = {"CForwardingShims": "CShims/CallShims", "CJournalShims": "CShims/JournalShims"}
# The tests of a module; without an entry, MODULETests.
TESTS = {
    "Invocations": "InvocationsTests|ForwardingTests|ForwardingMacrosTests",
    "CForwardingShims": "InvocationsTests|ForwardingTests",
    "CJournalShims": "ForwardingJournalTests",
    "ForwardingWire": "ForwardingWireTests|ForwardingJournalTests",
    "forward": "ForwardToolTests",
    "Forwarding": "ForwardingTests|ForwardingMacrosTests|ForwardingRemoteTests",
}
SWIFT_SWITCH = """import Glibc
// A file says which one: the compiler passes no variables to macros.
@usableFromInline let chosenMutant = { (code: Int32) in
  defer { errno = code }
  return (1..<1000).first { access("FOLDER/chosen-\\($0)", F_OK) == 0 } ?? 0
}(errno)
@usableFromInline func isMutant(_ number: Int) -> Bool { chosenMutant == number }
"""
C_SWITCH = """#include <stdlib.h>
static int chosen;
__attribute__((constructor(101))) static void choose(void) { chosen = getenv("MUTANT") ? atoi(getenv("MUTANT")) : 0; }
int fwd_mutant(int number) { return chosen == number; }
"""
RELEASES = r"release|retain|free|deallocate|deinitialize|destroy|let_go|letGo|unlock|drop"
OTHER_WAY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


def changes(line, before, is_c):
    """The changes of a line: pairs of a kind and the new line, with N for the number."""
    code = line.strip()
    if not code or re.match(r"//|\*|/\*|#|@|case |default|import |public |package |private |extension |static |typedef ", code):
        return
    switch = "fwd_mutant(N)" if is_c else "isMutant(N)"
    indent = line[: len(line) - len(line.lstrip())]
    begins = before.rstrip().endswith(("{", "}", ";", ":")) or (not is_c and re.match(r"^\s*(let|var|return|[\w.]+\(.*\)$)", before))
    condition = re.match(r"(if|guard|while|\} else if) \(?([^{]+?)\)? (\{|else \{.*)$", code)
    if condition and not re.search(r"\b(let|var|case|await|_ =)\b|,|#", condition[2]):
        word, text, rest = condition.groups()
        turned = f"({switch}) != ({text})" if is_c else f"{switch} != ({text})"
        yield "condition", indent + (f"{word} ({turned}) {rest}" if is_c else f"{word} {turned} {rest}")
    comparison = re.search(r"(?<![\w.)\]>!?$])([A-Za-z_][\w.]*(?:\(\))?) (<=|>=|==|!=|<|>) ([\w.]+)(?![\w.(])", line)
    if comparison and "func " not in line and "where" not in line:
        left, sign, right = comparison.groups()
        turned = f"({switch} ? {left} {OTHER_WAY[sign]} {right} : {left} {sign} {right})"
        yield "comparison", line[: comparison.start()] + turned + line[comparison.end():]
    constant = re.search(r"(?<![\w.\"\[$])([1-9]\d*|0)(?![\w.\"x])", line)
    if constant and '"' not in line[: constant.start()] and "func " not in line:
        yield "constant", line[: constant.start()] + f"({constant[1]} + ({switch} ? 1 : 0))" + line[constant.end():]
    order = re.search(r"__ATOMIC_(ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)", line)
    if order:
        yield "order", line[: order.start()] + f"({switch} ? __ATOMIC_RELAXED : {order[0]})" + line[order.end():]
    # In Swift an order is a constant, so that the whole call is there twice.
    order = re.search(r"[\w.]+\([^()]*ordering: (\.(?:acquiring|releasing|acquiringAndReleasing))\)", line)
    if order:
        turned = f"({switch} ? {order[0].replace(order[1], '.relaxed')} : {order[0]})"
        yield "order", line[: order.start()] + turned + line[order.end():]
    if not begins:
        return
    kind = "release" if re.search(RELEASES, code) else "statement"
    if is_c and re.match(r"[\w>.\-*\[\]]+ [|&+-]?= .*;$|\w+\(.*\);$", code) and not code.startswith("return"):
        yield kind, f"{indent}if (!{switch}) {code}"
    if not is_c and re.match(r"(try |await |unsafe |_ = )*[\w.]+(\(.*\)| [-+|&]?= [^{]*[\w)])$", code) and not re.match(r"return|let|var|super|self\.init", code):
        yield kind, f"{indent}if !{switch} {{ {code} }}"
    if not is_c and re.match(r"try (?!await)(unsafe )?[\w.]+\(.*\)$", code):
        yield "error", f"{indent}if {switch} {{ {code.replace('try ', 'try? ', 1)} }} else {{ {code} }}"


def pick(module, seed, rows):
    folder = ROOT / FOLDERS.get(module, f"Sources/{module}")
    found = {}
    for file in sorted(path for path in folder.rglob("*.*") if path.suffix in (".c", ".h", ".swift") and ".docc" not in str(path)):
        lines = file.read_text().split("\n")
        in_text = False
        for index, line in enumerate(lines):
            in_text ^= line.count('"""') == 1
            for kind, text in [] if in_text else changes(line, lines[index - 1], module in FOLDERS):
                found.setdefault(kind, []).append((str(file.relative_to(ROOT)), index, line, text))
    if rows:
        all_ = [(kind, change) for kind, list_ in found.items() for change in list_]
        known = {(kind, change[0], change[2].strip()): change for kind, change in all_}  # Or where it was:
        known |= {(kind, f"{change[0]}:{change[1] + 1}", change[2].strip()): change for kind, change in all_}
        places = [(row, known.get((row[1], row[2], row[3]), known.get((row[1], row[2].split(":")[0], row[3])))) for row in rows]
        return [(int(row[0]), row[1], *change) for row, change in places if change]
    rng, chosen, used = random.Random(seed), [], set()
    for list_ in found.values():
        rng.shuffle(list_)
    while len(chosen) < 80 and any(found.values()):  # Half of them may not compile.
        for kind in sorted(found):
            if found[kind]:
                file, index, line, text = found[kind].pop()
                if (file, index) not in used:
                    used.add((file, index))
                    chosen.append((len(chosen) + 1, kind, file, index, line, text))
    return chosen


def build(copy, module, chosen):
    """Builds all changes, and leaves out those that do not compile."""
    files = {mutant[2] for mutant in chosen}
    folder = copy / FOLDERS.get(module, f"Sources/{module}")
    flags = ["-Xcc", "-include", "-Xcc", str(copy / "mutant.h")] if module in FOLDERS else []
    if flags:
        (folder / "mutant.c").write_text(C_SWITCH)
        (copy / "mutant.h").write_text("#ifndef __ASSEMBLER__\nint fwd_mutant(int number);\n#endif\n")
    else:
        (folder / "Mutant.swift").write_text(SWIFT_SWITCH.replace("FOLDER", str(copy)))
    while True:
        for file in files:
            lines = (ROOT / file).read_text().split("\n")
            for number, _, path, index, _, text in chosen:
                if path == file:
                    lines[index] = re.sub(r"\b(isMutant|fwd_mutant)\(N\)", rf"\1({number})", text)
            (copy / file).write_text("\n".join(lines))
        run = subprocess.run(["swift", "build", "--build-tests", *flags], cwd=copy, text=True, capture_output=True, timeout=3600)
        if run.returncode == 0:
            return chosen
        wrong = set()
        for path, line in re.findall(r"(\S+?\.(?:swift|c|h)):(\d+):\d+: error", run.stdout + run.stderr):
            # The compiler may find the fault of a change in a later line, or where a closure around it begins.
            before = [m for m in chosen if m[2] == os.path.relpath(path, copy) and m[3] <= int(line)]
            wrong.update(m[0] for m in sorted(before, key=lambda m: m[3])[-1:])
        if not wrong:
            sys.exit(run.stdout[-3000:] + run.stderr[-3000:])
        chosen = [mutant for mutant in chosen if mutant[0] not in wrong]


def verdict(copy, number, tests, seconds):
    """The first test that sees a change. The others are ended then."""
    command = ["swift", "test", "--skip-build", "--filter", tests]
    subprocess.run(f"rm -f chosen-*; touch chosen-{number}", shell=True, cwd=copy)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o1777)  # Some tests have a second user.
        process = subprocess.Popen(command, cwd=copy, env=dict(os.environ, MUTANT=str(number), TMPDIR=folder), text=True,
                                   errors="replace", start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        end = lambda: subprocess.run(["pkill", "-KILL", "-s", str(process.pid)])
        late = threading.Timer(seconds, end)
        late.start()
        issues = (re.search(r'✘ Test "(.+?)" recorded an issue', line) for line in process.stdout)
        seen = next((issue[1] for issue in issues if issue), None)
        is_late = not late.is_alive()
        late.cancel()
        if seen:
            end()
        status = process.wait()
    return seen or ("survives" if status == 0 else "TIME" if is_late else "CRASH")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("module")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", type=int, nargs="*")
    options = parser.parse_args()
    tests = "|".join(rf"^{name}\." for name in TESTS.get(options.module, f"{options.module}Tests").split("|"))
    copy = ROOT / ".build/mutants"  # Files that did not change keep their times, and are not compiled again.
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split("\n")[:-1]:
        source, target = ROOT / name, copy / name
        if not target.exists() or source.is_file() and target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target, follow_symlinks=False)
    for file in [path for folder in ("Sources", "CShims", "Tests") for path in (copy / folder).rglob("*.*")]:
        if file.is_file() and not (ROOT / file.relative_to(copy)).exists():
            file.unlink()
    out = ROOT / f"Tests/Data/Mutants/{options.module}.txt"
    text = out.read_text() if out.exists() else "seed 1,\n"
    known = [row.split("\t") for row in text.split("\n")[1:-1]]
    seed = options.seed or int(re.match(r"seed (\d+)", text)[1])
    chosen = pick(options.module, seed, [] if options.seed else known)
    chosen = build(copy, options.module, chosen)[:40] or sys.exit(f"{options.module} has nothing to change")
    start = time.monotonic()
    if (seen := verdict(copy, 0, tests, 900)) != "survives":
        sys.exit(f"the tests fail without a change: {seen}")
    seconds = 20 + 4 * (time.monotonic() - start)
    # With `--only`, the verdicts of the others stay. Why nothing can see a change is said by hand, behind `survives`.
    old = {(row[1], row[2].split(":")[0], row[3]): row[4] for row in known}
    rows = [f"seed {seed}, {len(chosen)} changes, tests {tests}"]
    for number, kind, file, index, line, _ in chosen:
        before = old.get((kind, file, line.strip()), "survives")
        seen = verdict(copy, number, tests, seconds) if not options.only or number in options.only else before
        seen = before if seen == "survives" and before.startswith(seen) else seen
        rows.append(f"{number}\t{kind}\t{file}:{index + 1}\t{line.strip()}\t{seen}")
        print(rows[-1], flush=True)
    out.write_text("\n".join(rows) + "\n")
    print(f"{sum('survives' not in row for row in rows[1:])} of {len(rows) - 1} are seen")
    sys.exit(any(row.endswith("survives") for row in rows))


main()
