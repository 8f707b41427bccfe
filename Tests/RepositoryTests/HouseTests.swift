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
    "ForwardingUndo": ["Forwarding", "Invocations", "TypeEncodings"],
    "ForwardingMacros": [
      "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics", "SwiftParser",
      "SwiftCompilerPluginMessageHandling",
    ],
    "InvocationText": ["Invocations", "TypeEncodings"],
    // The only module with a test library: products that ship do not link one.
    "ForwardingTesting": ["Forwarding", "Invocations", "TypeEncodings", "Testing", "XCTest"],
    "ForwardingWire": ["Forwarding", "Invocations", "TypeEncodings"],
    "ForwardingJournal": ["ForwardingWire", "Invocations", "TypeEncodings", "CJournalShims"],
    "ForwardingRemote": [
      "ForwardingWire", "Forwarding", "Invocations", "TypeEncodings", "CSocketShims",
    ],
    // The only module that uses libnats, under a trait.
    "ForwardingNATS": ["ForwardingRemote", "ForwardingWire", "Invocations", "CNATS"],
    // The tool reports the version of libffi.
    "forward": [
      "Forwarding", "Invocations", "TypeEncodings", "InvocationText", "ForwardingJournal",
      "CForwardingShims",
    ],
  ]
  static let toolchain: Set<String> = [
    "Dispatch", "Foundation", "Glibc", "Synchronization", "Swift",
  ]

  @Test("a module imports only modules below it", arguments: imports.keys.sorted())
  func importsOnlyBelow(_ module: String) throws {
    let allowed = Self.toolchain.union(Self.imports[module] ?? [])
    let files = try Repository.files("Sources/\(module)", ["swift"])
    #expect(!files.isEmpty)
    for (path, lines) in files {
      for line in lines {
        let words = line.split(separator: " ").drop {
          ["@_exported", "@_spi(PluginMessage)", "public", "package", "internal", "@testable"]
            .contains($0)
        }
        // `import struct Invocations.NoResult` names a module, too.
        guard words.first == "import", let name = words.last?.split(separator: ".").first else {
          continue
        }
        #expect(allowed.contains(String(name)), "\(path) imports \(name)")
      }
    }
  }

  @Test("every module has an import rule")
  func modules() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Repository.file("Sources").path)
    #expect(Set(folders) == Set(Self.imports.keys))
  }

  /// The modules that have unsafe code in one folder only, and those that have none.
  static let unsafeFolders: [(module: String, folder: String?)] = [
    ("TypeEncodings", nil), ("Forwarding", nil), ("ForwardingTesting", nil),
    ("ForwardingUndo", nil), ("ForwardingWire", "/Memory/"),
    ("ForwardingJournal", "/Memory/"), ("ForwardingRemote", "/Transports/System/"),
    ("ForwardingNATS", "/Library/"),
  ]

  @Test("unsafe code is in one folder of a module, or nowhere", arguments: unsafeFolders)
  func safeModules(_ module: String, _ folder: String?) throws {
    for (path, lines) in try Repository.files("Sources/\(module)", ["swift"])
    where folder.map(path.contains) != true {
      // What is marked as unsafe for its users is another matter.
      for line in lines where line.contains(/^[^\/]*[^@\/]\bunsafe\b/) {
        Issue.record("\(path): \(line)")
      }
    }
  }

  @Test("a row of the conformance table that is checked elsewhere names a suite, and its tests")
  func conformance() throws {
    func quoted(_ text: String, after mark: String) -> [String] {
      text.components(separatedBy: mark).dropFirst().compactMap { part in
        let quoted = part.drop(while: \.isWhitespace)
        return quoted.first == "\"" ? String(quoted.dropFirst().prefix { $0 != "\"" }) : nil
      }
    }
    var tests: [String: [String]] = [:]
    var references: [String] = []
    for (path, lines) in try Repository.files("Tests", ["swift"]) {
      let text = lines.joined(separator: "\n")
      for part in text.components(separatedBy: "struct ").dropFirst() {
        tests[part.prefix { $0.isLetter || $0.isNumber }.description, default: []] +=
          quoted(text, after: "@Test(")
      }
      if path.hasSuffix("ConformanceTests.swift") { references += quoted(text, after: "in:") }
    }
    #expect(references.count > 50)
    for reference in references {
      let suites = reference.matches(of: /\w+Tests\b/).map { tests[String($0.0)] ?? [] }
      #expect(!suites.isEmpty && !suites.contains([]), "\(reference)")
      for name in reference.matches(of: /'([^']+)'/) {
        #expect(suites.joined().contains { $0.hasPrefix(name.1) }, "\(reference)")
      }
    }
  }

  @Test("each recorded change of a module is seen by a test, or says why none can")
  func mutants() throws {
    let folder = Toolchain.package.appending(path: "Tests/Data/Mutants")
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let rows = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        .split(separator: "\n").dropFirst()
      #expect(rows.count >= 24, "\(file)")
      for row in rows where row.hasSuffix("\tsurvives") { Issue.record("\(file): \(row)") }
    }
  }

  @Test("only the C core uses libffi")
  func libffi() throws {
    let files =
      try Repository.files("Sources", ["swift", "c", "h"])
      + Repository.files("CShims/CallShims/include", ["h"])
    for (path, lines) in files
    where lines.contains(where: {
      $0.contains("ffi") && $0.contains(/\bffi_\w+\s*\(|#include <ffi/)
    }) {
      Issue.record("\(path) names libffi")
    }
  }
}
