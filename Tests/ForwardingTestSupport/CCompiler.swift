// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A real C compiler on this machine.
public struct CCompiler: Sendable, CustomStringConvertible {
  private let path: String
  public let description: String

  public struct Failure: Error, CustomStringConvertible {
    public let description: String
    /// Whether the compiler itself crashed, which does not mean that the source is wrong.
    public var isCrash: Bool { description.contains("PLEASE submit a bug report") }
  }

  /// The system's `cc`; `make test` installs one if it is missing.
  public static func system() throws -> CCompiler { try CCompiler("cc") }

  /// The clang of the Swift toolchain.
  public static func clang() throws -> CCompiler { try CCompiler("clang") }

  private init(_ name: String) throws {
    guard let path = Toolchain.path(of: name) else {
      throw Failure(description: "no '\(name)' in PATH; run 'Scripts/setup.sh test'")
    }
    (self.path, description) = (path, name)
  }

  /// Compiles `source` into a shared library in a folder of its own, and returns its path.
  public func library(
    _ source: String, language: String = "c", options: [String] = ["-O2"]
  ) throws -> String {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("forwarding-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let input = folder.appendingPathComponent("source.c")
    let output = folder.appendingPathComponent("library.so")
    try source.write(to: input, atomically: true, encoding: .utf8)
    let result = try run(
      path,
      options + ["-w", "-fPIC", "-shared", "-x", language, input.path, "-o", output.path])
    guard result.status == 0 else {
      throw Failure(description: "\(self) failed on \(input.path):\n\(result.errors)")
    }
    return output.path
  }
}

/// The exit status and the output of a finished program.
public struct Finished: Sendable {
  public let status: Int32
  public let output: String
  public let errors: String
}

/// Runs a program to its end with the given standard input.
public func run(
  _ program: String, _ arguments: [String], input: [UInt8] = [],
  environment: [String: String]? = nil
) throws -> Finished {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: program)
  process.arguments = arguments
  if let environment {
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
  }
  // Uses files, not pipes: a program may write more than a pipe holds before it reads its input.
  let folder = FileManager.default.temporaryDirectory
  let names = (0..<3).map { _ in folder.appendingPathComponent("forwarding-\(UUID().uuidString)") }
  defer { names.forEach { try? FileManager.default.removeItem(at: $0) } }
  try Data(input).write(to: names[0])
  for name in names.dropFirst() { try Data().write(to: name) }
  process.standardInput = try FileHandle(forReadingFrom: names[0])
  process.standardOutput = try FileHandle(forWritingTo: names[1])
  process.standardError = try FileHandle(forWritingTo: names[2])
  try process.run()
  process.waitUntilExit()
  func text(_ url: URL) throws -> String {
    String(decoding: try Data(contentsOf: url), as: UTF8.self)
  }
  return Finished(
    status: process.terminationReason == .exit ? process.terminationStatus : -1,
    output: try text(names[1]), errors: try text(names[2]))
}
