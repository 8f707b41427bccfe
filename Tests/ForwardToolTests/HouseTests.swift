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
    // The only module with a test library: products that ship do not link one.
    "ForwardingTesting": ["Forwarding", "Invocations", "Testing", "XCTest"],
    "ForwardingWire": ["Forwarding", "Invocations", "TypeEncodings"],
    "ForwardingJournal": ["ForwardingWire", "Invocations", "TypeEncodings", "CJournalShims"],
    "ForwardingRemote": ["ForwardingWire", "Forwarding", "Invocations", "CSocketShims"],
    // The only module that uses libnats, under a trait.
    "ForwardingNATS": ["ForwardingRemote", "ForwardingWire", "Invocations", "CNATS"],
    // The tool reports the version of libffi.
    "forward": [
      "Forwarding", "ForwardingUndo", "InvocationText", "ForwardingJournal",
      "ForwardingRemote", "ForwardingNATS", "CForwardingShims",
    ],
  ]
  static let toolchain: Set<String> = [
    "Dispatch", "Foundation", "Glibc", "Musl", "Darwin", "Synchronization", "Swift",
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

  @Test("every module has an import rule")
  func modules() throws {
    let path = SnippetTests.root.appendingPathComponent("Sources").path
    #expect(
      try Set(FileManager.default.contentsOfDirectory(atPath: path)) == Set(Self.imports.keys))
  }

  @Test(
    "some modules contain no unsafe code",
    arguments: ["TypeEncodings", "Forwarding", "ForwardingTesting"])
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
    ])
  func safeRooms(_ room: String, _ home: String) throws {
    for (path, lines) in try Self.files(Toolchain.sources(of: room), ["swift"])
    where !path.contains(home) {
      for line in lines where line.contains(/\bunsafe\b/) { Issue.record("\(path): \(line)") }
    }
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
}
