// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// The texts of this repository, its programs, and what a client's compiler makes of its examples.
enum Repository {
  static func file(_ path: String) -> URL { Toolchain.package.appending(path: path) }

  static func text(_ path: String) throws -> String {
    try String(contentsOf: file(path), encoding: .utf8)
  }

  static func lines(_ path: String) throws -> [String] {
    try text(path).components(separatedBy: "\n")
  }

  /// The files of some kinds below a folder. Catalogs have programs of users.
  static func files(
    _ folder: String, _ kinds: Set<String>
  ) throws -> [(path: String, lines: [String])] {
    let names = FileManager.default.enumerator(atPath: file(folder).path)?.allObjects ?? []
    return try names.compactMap { $0 as? String }.sorted().filter { name in
      kinds.contains { name.hasSuffix(".\($0)") } && !name.contains(".docc/")
    }.map { ("\(folder)/\($0)", try lines("\(folder)/\($0)")) }
  }

  /// Runs a program of the package, which is built beside the running tests.
  static func run(_ program: String, _ arguments: [String] = []) throws -> Finished {
    try ForwardingTestSupport.run(self.program(program).path, arguments)
  }

  static func program(_ name: String) throws -> URL {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(name)
  }

  /// Compiles files as a client does, with the libraries of this package, and runs the program.
  static func output(
    of files: [String: String], options: [String] = [],
    linking modules: [String] = ["TypeEncodings", "Invocations", "Forwarding"]
  ) throws -> String {
    let swiftc = try #require(Toolchain.path(of: "swiftc"))
    let folder = FileManager.default.temporaryDirectory.appending(path: "forwarding-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let sources = files.map { (folder.appending(path: $0.key), $0.value) }
    for (file, text) in sources { try text.write(to: file, atomically: true, encoding: .utf8) }
    let program = folder.appending(path: "program").path
    #if Macros
      let macroOptions = Toolchain.macroOptions
    #else
      let macroOptions: [String] = []
    #endif
    let compiled = try ForwardingTestSupport.run(
      swiftc,
      ["-swift-version", "6", "-diagnostic-style=llvm", "-module-name", "Examples", "-o", program]
        + options + sources.map(\.0.path).sorted() + Toolchain.moduleOptions + macroOptions
        + Toolchain.linkOptions(for: modules + ["CForwardingShims"]))
    let errors = compiled.errors.split(separator: "\n").filter { $0.contains("error:") }
    try #require(
      compiled.status == 0, "\(errors.isEmpty ? compiled.errors : errors.joined(separator: "\n"))")
    let finished = try ForwardingTestSupport.run(program, [])
    #expect(finished.status == 0 && finished.errors == "", "\(finished.errors)")
    return finished.output
  }
}
