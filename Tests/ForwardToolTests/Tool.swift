// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// Runs the tool as a user does: arguments and input in; output, errors and exit code out.
struct Tool {
  static func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:]
  ) throws -> Finished {
    try run(arguments, bytes: Array(input.utf8), environment: environment)
  }

  static func run(
    _ arguments: [String], bytes: [UInt8], environment: [String: String] = [:]
  ) throws -> Finished {
    try ForwardingTestSupport.run(
      program.path, arguments, input: bytes, environment: environment)
  }

  /// The tool is built beside the running test bundle.
  static let program = URL(
    fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? ""
  ).deletingLastPathComponent().appendingPathComponent("forward")

  static func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }
}
