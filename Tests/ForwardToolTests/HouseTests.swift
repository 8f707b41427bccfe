// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@Suite("The rules of the source tree", .readsTextsAlone)
struct HouseTests {
  /// The modules that each module may import, in addition to those of the toolchain. No module
  /// imports one above it.
  static let imports: [String: Set<String>] = [
    "TypeEncodings": [],
    "Invocations": ["TypeEncodings", "CForwardingShims"],
    "Forwarding": ["Invocations", "TypeEncodings"],
    "ForwardingUndo": ["Forwarding", "Invocations"],
    "ForwardingMacros": [
      "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics",
      "SwiftCompilerPlugin", "SwiftCompilerPluginMessageHandling",
    ],
    "InvocationText": ["Invocations", "TypeEncodings"],
    "Spies": ["Forwarding", "Invocations"],
    // The only module with a test library: products that ship do not link one.
    "ForwardingTesting": ["Spies", "Forwarding", "Testing", "XCTest"],
    "ForwardingWire": ["Forwarding", "Invocations", "TypeEncodings"],
    "ForwardingJournal": ["ForwardingWire", "Invocations", "TypeEncodings", "CJournalShims"],
    "ForwardingRemote": ["ForwardingWire", "Forwarding", "Invocations", "CSocketShims"],
    "ForwardingActors": ["ForwardingRemote", "ForwardingWire", "Invocations"],
    // The only module that uses libnats, under a trait.
    "ForwardingNATS": ["ForwardingRemote", "ForwardingWire", "Invocations", "CNATS"],
    // The tool reports the version of libffi.
    "forward": [
      "Forwarding", "ForwardingUndo", "Spies", "InvocationText", "ForwardingJournal",
      "ForwardingRemote", "ForwardingNATS", "CForwardingShims",
    ],
    // One row calls a handler in C.
    "CallBenchmarks": [
      "Forwarding", "ForwardingUndo", "Spies", "ForwardingJournal", "ForwardingRemote",
      "Invocations",
      "TypeEncodings", "BenchmarkSubjects", "CForwardingShims",
    ],
  ]
  static let toolchain: Set<String> = [
    "Dispatch", "Foundation", "Glibc", "Musl", "Darwin", "Synchronization", "Swift", "Distributed",
  ]

  static func files(_ folder: String, _ kinds: Set<String>) throws -> [(
    String, [Substring]
  )] {
    let root = SnippetTests.root.appendingPathComponent(folder)
    let walk = try #require(
      FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
    // Catalogs have programs of users.
    return try walk.compactMap { $0 as? URL }.filter {
      kinds.contains($0.pathExtension) && !$0.path.contains(".docc/")
    }.map { file in
      let text = try String(contentsOf: file, encoding: .utf8)
      return (file.path, text.split(separator: "\n", omittingEmptySubsequences: false))
    }
  }

  @Test("a module imports only modules below it", arguments: imports.keys.sorted())
  func roomsImport(_ room: String) throws {
    let allowed = Self.toolchain.union(Self.imports[room] ?? [])
    let files = try Self.files(Toolchain.sources(of: room), ["swift"])
    #expect(!files.isEmpty)
    for (path, lines) in files {
      for line in lines {
        let words = line.split(separator: " ").drop {
          ["@_exported", "@_spi(PluginMessage)", "public", "package", "internal", "@testable"]
            .contains($0)
        }
        guard words.first == "import", let module = words.dropFirst().first else { continue }
        #expect(allowed.contains(String(module)), "\(path) imports \(module)")
      }
    }
  }

  private static func folder(_ path: String) throws -> Set<String> {
    let path = SnippetTests.root.appendingPathComponent(path).path
    return try Set(FileManager.default.contentsOfDirectory(atPath: path))
  }

  @Test("every module has an import rule, and a shelf with a promise")
  func shelves() throws {
    #expect(try Self.folder("Sources") == Set(Toolchain.shelves.keys).union(["forward"]))
    for (shelf, modules) in Toolchain.shelves {
      #expect(try Self.folder("Sources/\(shelf)") == Set(modules))
    }
    let modules = Toolchain.shelves.values.joined() + ["forward", "CallBenchmarks"]
    #expect(Set(modules) == Set(Self.imports.keys))
  }

  @Test(
    "a module imports nothing of a shelf above its own",
    arguments: [
      ("Core", ["Core"]), ("Kept", ["Core", "Kept"]), ("Elsewhere", ["Core", "Kept", "Elsewhere"]),
    ])
  func shelvesAbove(_ shelf: String, _ below: [String]) {
    let allowed = Set(below.flatMap { Toolchain.shelves[$0] ?? [] })
    let known = Set(Toolchain.shelves.values.joined())
    for module in Toolchain.shelves[shelf] ?? [] {
      #expect(Self.imports[module]?.intersection(known).subtracting(allowed) == [], "\(module)")
    }
  }

  @Test(
    "some modules contain no unsafe code",
    arguments: ["TypeEncodings", "Forwarding", "Spies", "ForwardingTesting"])
  func safeRooms(_ room: String) throws {
    for (path, lines) in try Self.files(Toolchain.sources(of: room), ["swift"]) {
      for line in lines where line.contains(/\bunsafe\b/) { Issue.record("\(path): \(line)") }
    }
  }

  @Test(
    "modules that access memory directly have unsafe code in one folder or file only",
    arguments: [
      ("ForwardingUndo", "/Memory/"), ("ForwardingWire", "/Memory/"),
      ("ForwardingJournal", "/Memory/"),
      ("ForwardingRemote", "/Transports/System/"), ("ForwardingNATS", "/Library/"),
      ("ForwardingActors", "/AccessibleFunctions.swift"),
    ])
  func safeRooms(_ room: String, _ home: String) throws {
    for (path, lines) in try Self.files(Toolchain.sources(of: room), ["swift"])
    where !path.contains(home) {
      for line in lines where line.contains(/\bunsafe\b/) { Issue.record("\(path): \(line)") }
    }
  }

  @Test("every product of the manifest is for users")
  func products() throws {
    let manifest = SnippetTests.root.appendingPathComponent("Package.swift")
    let text = try String(contentsOf: manifest, encoding: .utf8)
    let names = text.matches(of: /\.(?:library|executable)\(name: "([^"]+)"/).map(\.1)
    #expect(names.count > 10)
    #expect(names.filter { $0.hasPrefix("_") } == [])
  }

  @Test("only the C core uses libffi")
  func libffi() throws {
    let files =
      try Self.files("Sources", ["swift", "c", "h"]) + Self.files("CShims/CallShims/include", ["h"])
    for (path, lines) in files
    where lines.contains(where: {
      $0.contains("ffi") && $0.contains(/\bffi_\w+\s*\(|#include <ffi/)
    }) {
      Issue.record("\(path) names libffi")
    }
  }

  @Test(
    "a file is short",
    arguments: [("Sources", 280), ("CShims", 280), ("Tests", 330)])
  func fileLengths(_ folder: String, _ limit: Int) throws {
    for (path, lines) in try Self.files(folder, ["swift", "c", "h", "S"]) {
      // The licence does not count.
      let count = lines.count { !$0.hasPrefix("// SPDX-License-Identifier") }
      if count > limit { Issue.record("\(path) has \(count) lines, \(limit) are the limit") }
    }
  }

  /// The lines that declare or define a function of the C core, with the number of comment lines
  /// above them. Functions of a family follow each other, without an empty line, under one comment.
  private static func contracts(_ lines: [Substring]) -> [(String, Int)] {
    lines.indices.compactMap { index in
      let line = lines[index]
      guard line.contains(/\b(?:fwd|swift)_\w+\(/), line.contains(/^[A-Za-z_]/),
        !line.hasPrefix("_Static_assert"), !line.hasPrefix("typedef")
      else { return nil }
      let block = lines[..<index].reversed().prefix { !$0.isEmpty }
      let comment = block.drop { !$0.hasPrefix("//") }.prefix { $0.hasPrefix("//") }
      return (String(line), comment.count)
    }
  }

  @Test("each function of the C core has a comment of at least two lines above it")
  func contracts() throws {
    let files =
      try Self.files("CShims/CallShims/include", ["h"])
      + Self.files("CShims/JournalShims/include", ["h"])
      + Self.files("CShims/SocketShims/include", ["h"])
    var count = 0
    for (path, lines) in files {
      for (line, comment) in Self.contracts(lines) {
        count += 1
        if comment < 2 { Issue.record("\(path): \(line)") }
      }
    }
    #expect(count > 80)
  }

  @Test(
    "a function without a comment is found, and a family with one is accepted",
    arguments: [
      ("/// One line.\nvoid fwd_jump(void);", [1]),
      ("/// Two lines,\n/// of them.\nvoid fwd_jump(void);\nvoid fwd_land(void);", [2, 2]),
      ("/// Two lines,\n/// of a type.\ntypedef int Leap;\n\nint fwd_jump(void);", [0]),
      ("/// Two lines,\n/// of them.\nstatic inline int fwd_jump(void) {\n  fwd_land();\n}", [2]),
    ])
  func contractsAreCounted(_ header: String, _ counts: [Int]) {
    let lines = header.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(Self.contracts(lines).map(\.1) == counts)
  }
}
