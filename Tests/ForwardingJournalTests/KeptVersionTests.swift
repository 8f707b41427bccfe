// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Testing

/// Journals that released versions wrote. They are kept for ever, and never written again:
/// `RECORD_GOLDENS=1` writes only those that are missing.
@Suite("Journals of released versions")
struct KeptVersionTests {
  static let versions: [String] = ["0.1.0"]

  private static func file(_ version: String) -> URL {
    Toolchain.package.appendingPathComponent("Tests/Data/Versions/\(version)/ledger.journal")
  }

  /// The calls of each kept journal, on an object that makes them.
  private static func calls(on object: some AnyObject) throws {
    try Ledger.rename("tea: grüße 👋", on: object)
    try Ledger.add(-5, 0.5, true, on: object)
    try Ledger.rename("", on: object)
    try Ledger.add(.max, .infinity, false, on: object)
    _ = try Ledger.withdraw(1, on: object)
  }

  private static func bytes(_ version: String) throws -> [UInt8] {
    let file = file(version)
    if Toolchain.records, !FileManager.default.fileExists(atPath: file.path) {
      let ledger = Ledger()
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      let journal = try Journal(at: file.path, interface: Ledger.interface(), to: ledger)
      try calls(on: journal)
      try journal.close()
    }
    return [UInt8](try Data(contentsOf: file))
  }

  @Test(
    "a journal of a released version is continued, and its calls do what they did",
    arguments: versions)
  func continuing(_ version: String) throws {
    let folder = try Folder()
    let kept = try Self.bytes(version)
    try folder.write(kept)
    let interface = try Ledger.interface()
    let journal = try Journal(at: folder.journal, interface: interface)
    try Ledger.rename("later", on: journal)
    try journal.close()
    let bytes = try folder.bytes()
    #expect(bytes.starts(with: kept) && bytes.count > kept.count)
    let (expected, replayed) = (Ledger(), Ledger())
    try Self.calls(on: expected)
    try Ledger.rename("later", on: expected)
    #expect(try JournalReader(at: folder.journal).replay(interface, into: replayed) == 6)
    #expect(replayed == expected && replayed.names == ["tea: grüße 👋", "", "later"])
  }
}
