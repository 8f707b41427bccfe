#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the names of the core that companions use with Documentation/Internals/Seam.md.

The core modules share names with the other modules of this package by `package` access. The compiler's
index, which a debug build writes, tells exactly which of them a companion uses. A use of a name that the
page does not list is a failure, and so is a listed name that no companion uses any more.

  Scripts/seam.py           compare, and print the number of names
  Scripts/seam.py --list    print each name, its file, and the modules that use it
"""
import ctypes
import os
import re
import shutil
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PAGE = "Documentation/Internals/Seam.md"
CORE = {"TypeEncodings", "Invocations", "Forwarding", "InvocationText"}
COMPANIONS = {
    "ForwardingUndo", "Spies", "ForwardingTesting", "ForwardingWire", "ForwardingJournal",
    "ForwardingRemote", "ForwardingNATS", "ForwardingActors",
}  # fmt: skip
DEFINITION, REFERENCE, RECORD = 2, 4, 2
CHILD_OF = 1 << 9


class Text(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("count", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.start, self.count).decode() if self.count else ""


class Index:
    """The functions of libIndexStore that this script calls."""

    EachText = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, Text)
    Each = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)

    def __init__(self, store):
        swift = os.path.realpath(shutil.which("swift") or sys.exit("seam.py: there is no swift"))
        folder = os.path.join(os.path.dirname(swift), "..", "lib")
        names = [name for name in os.listdir(folder) if name.startswith("libIndexStore.")]
        if not names:
            sys.exit(f"seam.py: {folder} has no libIndexStore")
        self.library = ctypes.CDLL(os.path.join(folder, names[0]))
        create = self.function("store_create", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.store = create(store.encode(), None)
        if not self.store:
            sys.exit(f"seam.py: {store} cannot be read; run swift build --build-tests first")

    def function(self, name, result, *arguments):
        function = getattr(self.library, "indexstore_" + name)
        function.restype, function.argtypes = result, arguments
        return function

    def each(self, name, read, *arguments):
        """The results of `read` for what the function passes to its callback."""
        results = []
        kind = self.EachText if name == "store_units_apply_f" else self.Each
        callback = kind(lambda _, item: results.append(read(item)) or True)
        types = [ctypes.c_uint if isinstance(value, int) and value == 0 else ctypes.c_void_p for value in arguments]
        self.function(name, ctypes.c_bool, *types, ctypes.c_void_p, kind)(*arguments, None, callback)
        return results

    def records(self):
        """The records of the source files: module, path, and name."""
        open_unit = self.function("unit_reader_create", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        close = self.function("unit_reader_dispose", None, ctypes.c_void_p)
        module = self.function("unit_reader_get_module_name", Text, ctypes.c_void_p)
        kind = self.function("unit_dependency_get_kind", ctypes.c_int, ctypes.c_void_p)
        name = self.function("unit_dependency_get_name", Text, ctypes.c_void_p)
        path = self.function("unit_dependency_get_filepath", Text, ctypes.c_void_p)
        found = {}
        for unit in self.each("store_units_apply_f", str, self.store, 0):
            reader = open_unit(self.store, unit.encode(), None)
            if not reader:
                continue
            of = str(module(reader))
            read = lambda item: (kind(item), str(name(item)), str(path(item)))
            for item, record, file in self.each("unit_reader_dependencies_apply_f", read, reader):
                if item == RECORD and file.startswith(os.path.join(ROOT, "Sources") + os.sep):
                    found.setdefault((of, file), []).append(record)
            close(reader)
        # Old units and records stay in the store. The newest one is that of the file as it is.
        folder = os.path.join(STORE, "v5", "records")
        age = lambda record: os.stat(os.path.join(folder, record[-2:], record)).st_mtime
        return {key: max(records, key=age) for key, records in found.items() if os.path.exists(key[1])}

    def occurrences(self, record):
        """The identity, name, roles, line, and owners of each symbol in a record."""
        open_record = self.function("record_reader_create", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        close = self.function("record_reader_dispose", None, ctypes.c_void_p)
        symbol = self.function("occurrence_get_symbol", ctypes.c_void_p, ctypes.c_void_p)
        roles = self.function("occurrence_get_roles", ctypes.c_uint64, ctypes.c_void_p)
        place = self.function(
            "occurrence_get_line_col", None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_uint))
        identity = self.function("symbol_get_usr", Text, ctypes.c_void_p)
        name = self.function("symbol_get_name", Text, ctypes.c_void_p)
        related = self.function("symbol_relation_get_symbol", ctypes.c_void_p, ctypes.c_void_p)
        relation = self.function("symbol_relation_get_roles", ctypes.c_uint64, ctypes.c_void_p)

        def read(item):
            line, column = ctypes.c_uint(), ctypes.c_uint()
            place(item, ctypes.byref(line), ctypes.byref(column))
            owners = [
                identity_of
                for role, identity_of in self.each(
                    "occurrence_relations_apply_f", lambda other: (relation(other), str(identity(related(other)))), item)
                if role & CHILD_OF
            ]
            return str(identity(symbol(item))), str(name(symbol(item))), roles(item), line.value, owners

        reader = open_record(self.store, record.encode(), None)
        found = self.each("record_reader_occurrences_apply_f", read, reader)
        close(reader)
        return found


STORE = os.path.join(ROOT, ".build", "debug", "index", "store")


def used_names():
    """The package names of the core that companions use: where each is, and who uses it.

    A member of a type with package access counts with its type, wherever it is declared, and a getter
    with its property.
    """
    index = Index(STORE)
    defined, references, lines = {}, defaultdict(set), {}
    for (module, path), record in index.records().items():
        if module not in CORE and module not in COMPANIONS:
            continue
        if path not in lines:
            lines[path] = open(path).read().split("\n")
        for identity, name, roles, line, owners in index.occurrences(record):
            if roles & DEFINITION and module in CORE and not name.startswith(("getter:", "setter:")):
                text = lines[path][line - 1]
                access = re.search(r"\b(public|open|package)\b", text)
                defined[identity] = (module, path, line, name, access and access[1], owners)
            if roles & REFERENCE and module in COMPANIONS:
                references[identity].add(module)
    if not defined or not references:
        sys.exit("seam.py: the index of .build has no core or no companion; run swift build --build-tests first")
    types = {entry[3]: entry for entry in defined.values() if entry[4] == "package"}

    def owner_of(owners):
        owner = next((defined[other] for other in owners if other in defined), None)
        if owner and owner[4] is None:  # An extension, whose type may have package access.
            owner = types.get(owner[3], owner)
        return owner

    names, members = defaultdict(set), set()
    for identity, users in references.items():
        if identity not in defined:
            continue
        module, path, line, name, access, owners = defined[identity]
        member = name
        owner = owner_of(owners)
        while owner and owner[4] == "package":
            module, path, line, name, access, owners = owner
            owner = owner_of(owners)
        if access != "package":
            continue
        full = name if owner is None else f"{owner[3]}.{name}"
        names[(module, full, os.path.relpath(path, os.path.join(ROOT, "Sources")), line)] |= users
        members.add((module, full, member))
    return names, len(members)


def main():
    names, members = used_names()
    if sys.argv[1:] == ["--list"]:
        for (module, name, path, line), users in sorted(names.items()):
            print(f"{module}: {name}  {path}:{line}  {', '.join(sorted(users))}")
    used = {f"{module}: {name}" for module, name, _, _ in names}
    page = open(os.path.join(ROOT, PAGE)).read()
    listed = set()
    for module, rows in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.S | re.M):
        listed |= {f"{module}: {name}" for name in re.findall(r"^\| `([^`]+)` \|", rows, re.M)}
    for name in sorted(used - listed):
        print(f"A companion uses {name}, which {PAGE} does not list. Use public API, or add the name with its reason.")
    for name in sorted(listed - used):
        print(f"{PAGE} lists {name}, which no companion uses. Remove the row, and the package access if the core does not need it.")
    told = re.search(r"companions\s+use (\d+)\s+members of these types", page)
    if not told or int(told[1]) != members:
        print(f"Companions use {members} members of these names, and {PAGE} says {told and told[1]}.")
    elif used == listed:
        print(f"Companions use {len(used)} names of the core, all of which {PAGE} lists, with {members} members.")
        return
    sys.exit(1)


main()
