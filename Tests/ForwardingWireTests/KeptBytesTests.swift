// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingWire
import Foundation
import Testing

/// Calls that released versions encoded. They are kept for ever, and never written again:
/// `RECORD_GOLDENS=1` writes only those that are missing.
@Suite("Calls of released versions")
struct KeptBytesTests {
  static let versions: [String] = ["0.1.0"]

  /// A line for each call of `Listener.calls()`, in hexadecimal.
  private static func lines(_ version: String) throws -> [[UInt8]] {
    let file = Toolchain.package.appendingPathComponent(
      "Tests/Data/Versions/\(version)/calls.txt")
    if Toolchain.records, !FileManager.default.fileExists(atPath: file.path) {
      let interface = try Listener.interface()
      let lines = try Listener.calls().map { try interface.encode($0.0).hexadecimal }
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try (lines.joined(separator: "\n") + "\n").write(
        to: file, atomically: true, encoding: .utf8)
    }
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map { [UInt8](hexadecimal: $0) }
  }

  @Test("a call of a released version is decoded, and does what it did", arguments: versions)
  func decoding(_ version: String) throws {
    let interface = try Listener.interface()
    let lines = try Self.lines(version)
    let calls = try Listener.calls()
    #expect(lines.count == calls.count)
    for (bytes, (_, expected)) in zip(lines, calls) {
      let listener = Listener()
      try interface.decode(bytes).invoke(on: listener)
      #expect(listener.heard == [expected])
    }
  }

  @Test("a released version can read the calls of this one", arguments: versions)
  func encoding(_ version: String) throws {
    let interface = try Listener.interface()
    for (bytes, (call, _)) in zip(try Self.lines(version), try Listener.calls()) {
      #expect(try interface.encode(call) == bytes)
    }
  }
}
