// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import ForwardingTestSupport
import Foundation
import Invocations
import Testing

@Suite("The file format as its page documents it")
struct FormatTests {
  private static let deposit = try! Message<NoResult, Int32, String>("deposit:from:")
  private static let time: Int64 = 1_700_000_000_000_000_000

  private func interface() throws -> Interface {
    var interface = Interface("bank")
    try interface.allow(Self.deposit)
    return interface
  }

  /// The bytes of the page. Each line has an offset before them and an explanation after them.
  private func page() throws -> [UInt8] {
    let text = try String(
      contentsOf: Toolchain.package.appending(path: "Documentation/Journal.md"), encoding: .utf8)
    let example = try #require(text.components(separatedBy: "<!-- hexadecimal -->\n").last)
    let block = try #require(example.components(separatedBy: "```").dropFirst().first)
    var bytes: [UInt8] = []
    for line in block.split(separator: "\n").dropFirst() {
      #expect(Int(line.prefix(4), radix: 16) == bytes.count, "\(line)")
      bytes += line.dropFirst(6).prefix(23).split(separator: " ").compactMap {
        UInt8($0, radix: 16)
      }
    }
    return bytes
  }

  @Test("the example is a journal of the documented call")
  func reading() throws {
    let folder = try Folder()
    try folder.write(page())
    let reader = try folder.reader()
    let record = try #require(try reader.next())
    #expect(record.sequence == 1 && record.time == Self.time + 1_000_000)
    #expect(record.interface == "bank" && record.selector == "deposit:from:")
    #expect(record.encoding == "v@:i*")
    #expect(try record.values() == ["5", "\"tea\""])
    #expect(try reader.next() == nil && reader.torn == 0)
  }

  @Test("recording that call at that time makes the example, byte for byte")
  func writing() throws {
    let folder = try Folder()
    let journal = try Journal(at: folder.journal, interface: interface())
    try Self.deposit(5, "tea", on: journal)
    try journal.close()
    let written = try folder.bytes()
    let record = JournalBytes.record(
      kind: 1, 1, Array(written[68...]), time: Self.time + 1_000_000)
    #expect(try JournalBytes.beginning(time: Self.time) + record == page())
    // The times alone are others.
    for index in written.indices where !(20..<36).contains(index) && !(48..<56).contains(index) {
      if !(64..<68).contains(index) { #expect(try written[index] == page()[index], "\(index)") }
    }
  }
}
