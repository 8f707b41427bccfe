// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Glibc
import Testing
@testable import ForwardingJournal

@Suite("Outcomes of calls")
struct OutcomeTests {
  /// Answers with texts or errors of a given length.
  private final class Speaker: @unchecked Sendable {
    var calls = 0
  }

  private struct Long: Error, CustomStringConvertible {
    var description: String
  }

  private static let speak = try! Message<String, Int>("speak:")
  private static let fail = try! Message<NoResult, Int>("fail:")
  private static let hear = try! Message<NoResult, String>("hear:")

  private static func interface(_ limits: WireLimits = WireLimits()) throws -> Interface {
    let table = MethodTable.of(Speaker.self)
    try table.register("speak:", replacing: true) { (self: Speaker, count: Int) -> String in
      self.calls += 1
      return String(repeating: "a", count: count)
    }
    try table.register("fail:", replacing: true) { (self: Speaker, count: Int) in
      self.calls += 1
      throw Long(description: String(repeating: "é", count: count))
    }
    try table.register("hear:", replacing: true) { (self: Speaker, text: String) in
      self.calls += 1
    }
    var interface = Interface("a speaker with a long name", limits: limits)
    for message in [fail] { try interface.allow(message) }
    try interface.allow(speak)
    try interface.allow(hear)
    return interface
  }

  private static var afterwards: JournalOptions {
    var options = JournalOptions()
    options.moment = .afterwards
    return options
  }

  @Test("a result that does not fit reaches the caller, and the record says that it is missing")
  func longResult() throws {
    let folder = try Folder()
    let speaker = Speaker()
    let interface = try Self.interface()
    let journal = try Journal(
      at: folder.journal, interface: interface, to: speaker, Self.afterwards)
    for count in [2 << 20, (1 << 20) - 4] {
      #expect(try Self.speak(count, on: journal).utf8.count == count)
    }
    #expect(try Self.speak(3, on: journal) == "aaa")
    try journal.close()
    let reader = try JournalReader(at: folder.journal)
    for limit in [
      "1048576 bytes are the limit, but 2097152 are given", "1048608 bytes are the limit",
    ] {
      guard case .threw(let text) = try reader.next()?.outcome else { throw Long(description: "") }
      #expect(text.hasPrefix("the result cannot be recorded: \(limit)"), "\(text)")
    }
    #expect(try reader.next()?.outcome == .returned([3, 0, 0, 0, 0x61, 0x61, 0x61]))
    let other = Speaker()
    #expect(try JournalReader(at: folder.journal).replay(interface, into: other).made == 3)
    #expect(other.calls == speaker.calls)
  }

  @Test(
    "an error whose text does not fit reaches the caller, and the record has the beginning of it")
  func longError() throws {
    for room in [13, 20, 21, 22, 1 << 20] {
      let folder = try Folder()
      var limits = WireLimits()
      limits.message = room
      let journal = try Journal(
        at: folder.journal, interface: Self.interface(limits), to: Speaker(), Self.afterwards)
      #expect(throws: Long.self) { try Self.fail(10_000, on: journal) }
      try journal.close()
      guard case .threw(let text) = try JournalReader(at: folder.journal).next()?.outcome else {
        throw Long(description: "")
      }
      #expect(text == String(repeating: "é", count: min(room - 13, 4096) / 2))
    }
  }

  @Test("a call recorded afterwards needs five bytes more room than one recorded before")
  func sameRoom() throws {
    for (room, fits) in [(4 + 8, false), (4 + 8 + 4, false), (4 + 8 + 5, true)] {
      let folder = try Folder()
      var limits = WireLimits()
      limits.message = room
      let speaker = Speaker()
      let interface = try Self.interface(limits)
      let before = try Journal(at: folder.path + "/before", interface: interface, to: speaker)
      try Self.hear("12345678", on: before)
      let after = try Journal(
        at: folder.journal, interface: interface, to: speaker, Self.afterwards)
      if fits {
        try Self.hear("12345678", on: after)
      } else {
        #expect(throws: JournalError.self) { try Self.hear("12345678", on: after) }
      }
      #expect(speaker.calls == (fits ? 2 : 1), "what is refused is not made")
    }
  }

  @Test("a call whose record does not fit on the disk was made, and its caller gets the error")
  func fullDisk() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let speaker = Speaker()
      let interface = try OutcomeTests.interface()
      let journal = try Journal(
        at: folder.journal, interface: interface, to: speaker, OutcomeTests.afterwards)
      SystemCall.limitFiles(to: journal.size)
      do {
        _ = try OutcomeTests.speak(3, on: journal)
        require(false, "nobody was told")
      } catch JournalError.system("written", folder.journal, EFBIG) {}
      require(speaker.calls == 1 && journal.nextSequence == 1)
      SystemCall.limitFiles(to: nil)
      require(try OutcomeTests.speak(3, on: journal) == "aaa" && journal.nextSequence == 2)
      _exit(0)
    }
  }
}
