// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
@testable import ForwardingJournal

@Suite("Limits of a journal")
struct LimitTests {
  private struct Tree: Codable, Sendable {
    var kids: [Tree] = []
  }

  @Test("with any limit, however large or small, calls are recorded or refused")
  func extremes() throws {
    let keep = try Message<NoResult, String>("keep:")
    let grow = try Message<NoResult, Tree>("grow:")
    for value in [.max, .max - 1, .max / 4, 0, -1, .min] {
      for limit in [\WireLimits.message, \.text, \.depth] {
        for moment in [JournalOptions.Moment.before, .afterwards] {
          let folder = try Folder()
          var limits = WireLimits()
          limits[keyPath: limit] = value
          var interface = Interface("keeper", limits: limits)
          try? interface.allow(keep)
          try? interface.allow(grow)
          var options = JournalOptions()
          options.moment = moment
          let journal = try Journal(at: folder.journal, interface: interface, options)
          var written = 0
          for call in [
            { try keep("tea", on: journal) }, { try grow(Tree(kids: [Tree()]), on: journal) },
          ] {
            if (try? call()) != nil { written += 1 }
          }
          #expect(written == (value > 0 ? 2 : limit == \.depth ? 1 : 0))
          try journal.close()
          let reader = try JournalReader(at: folder.journal)
          let target = try Journal.nowhere(folder, interface)
          #expect(try reader.replay(interface, into: target).made == written)
        }
      }
    }
  }

  private static let keep = try! Message<NoResult, String>("keep:")

  private static func keeper(message: Int, text: Int = 1 << 20) throws -> Interface {
    var limits = WireLimits()
    (limits.message, limits.text) = (message, text)
    var interface = Interface("keeper", limits: limits)
    try interface.allow(keep)
    return interface
  }

  /// A journal of four calls. The third call is long.
  private func written(_ folder: Folder) throws -> Int {
    let journal = try Journal(
      at: folder.journal, interface: Self.keeper(message: 4 << 20, text: 4 << 20))
    for name in ["1", "2", String(repeating: "x", count: 1 << 20), "4"] {
      try Self.keep(name, on: journal)
      usleep(2000)
    }
    try journal.close()
    return journal.size
  }

  @Test("a record above the limit does not matter unless its call is wanted")
  func unwanted() throws {
    let folder = try Folder()
    _ = try written(folder)
    let small = try Self.keeper(message: 40)
    var times: [Int64] = []
    let all = try JournalReader(at: folder.journal)
    while let record = try all.next() { times.append(record.time) }
    func replay(_ change: (inout ReplayOptions) -> Void) throws -> Int {
      var options = ReplayOptions()
      change(&options)
      return try JournalReader(at: folder.journal)
        .replay(small, into: Journal.nowhere(folder, small), options).made
    }
    #expect(try replay { $0.last = 2 } == 2)
    #expect(try replay { $0.first = 4 } == 1)
    #expect(try replay { $0.until = times[1] } == 2)
    #expect(throws: JournalError.self) { try replay { $0.last = 3 } }
    #expect(throws: JournalError.self) { try replay { $0.first = 3 } }
    #expect(throws: JournalError.self) { try replay { $0.until = times[2] } }
  }

  @Test("values of a journal with other limits are read with those limits")
  func values() throws {
    let folder = try Folder()
    let grow = try Message<NoResult, Tree>("grow:")
    var limits = WireLimits()
    limits.depth = 64
    var interface = Interface("forest", limits: limits)
    try interface.allow(grow)
    let journal = try Journal(at: folder.journal, interface: interface)
    var tree = Tree()
    for _ in 0..<20 { tree = Tree(kids: [tree]) }
    try grow(tree, on: journal)
    try journal.close()
    let record = try #require(try JournalReader(at: folder.journal).next())
    #expect {
      try record.values()
    } throws: {
      ($0 as? WireError)?.reason == .nestedTooDeeply(limit: 16)
    }
    guard case .json(let text) = try record.values(limits: limits).first else {
      Issue.record("no JSON")
      return
    }
    #expect(text.hasPrefix(#"{"kids":[{"kids":["#))
  }

  @Test("a partial record at the end is torn, whatever its length would be")
  func torn() throws {
    let folder = try Folder()
    _ = try written(folder)
    let all = try JournalReader(at: folder.journal)
    for _ in 0..<3 { _ = try all.next() }
    let small = try Self.keeper(message: 40)
    try folder.write(Array(folder.bytes().prefix(all.offset - 1)))
    let reader = try JournalReader(at: folder.journal)
    #expect(try reader.replay(small, into: Journal.nowhere(folder, small)).made == 2)
    #expect(try reader.next() == nil)
    guard case .torn = reader.tail else {
      Issue.record("\(reader.tail)")
      return
    }
  }
}

extension Journal {
  /// A journal without a target, which takes all calls of an interface.
  fileprivate static func nowhere(_ folder: Folder, _ interface: Interface) throws -> Journal {
    try Journal(at: folder.path + "/nowhere", interface: interface)
  }
}
