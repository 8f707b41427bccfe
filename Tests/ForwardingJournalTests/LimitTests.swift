import Foundation
import Testing
@testable import ForwardingJournal

@Suite("Limits of a journal")
struct LimitTests {
  private struct Tree: Codable, Sendable {
    var kids: [Tree] = []
  }

  @Test("no limit is too large or too small: calls are written, or refused")
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
}

extension Journal {
  /// A target that takes all calls of an interface.
  fileprivate static func nowhere(_ folder: Folder, _ interface: Interface) throws -> Journal {
    try Journal(at: folder.path + "/nowhere", interface: interface)
  }
}
