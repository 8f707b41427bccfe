// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The chapter of the tour about journals.
enum JournalTour {
  private final class Shop {
    var stock: [String: Int] = [:]
  }

  static func run() throws {
    try MethodTable.of(Shop.self).register("buy:amount:") {
      (shop: Shop, name: String, amount: Int) in shop.stock[name, default: 0] += amount
    }
    let buy = try Message<NoResult, String, Int>("buy:amount:")
    var interface = Interface("shop")
    try interface.allow(buy)
    let path = "/tmp/forward-tour-\(getpid()).journal"
    defer { unsafe unlink(path) }
    let journal = try Journal(at: path, interface: interface, to: Shop())
    for (name, amount) in [("tea", 3), ("milk", 1), ("tea", 4)] {
      try buy(name, amount, on: journal)
    }
    try journal.close()
    let reader = try JournalReader(at: path)
    while let record = try reader.next() {
      TourCommand.say("\(record.sequence)  \(record.selector)  \(try record.values())")
    }
    let again = Shop()
    let summary = try JournalReader(at: path).replay(interface, into: again)
    TourCommand.show("reader.replay(interface, into: again).made", "\(summary.made)")
    TourCommand.show("again.stock[\"tea\"]", "\(again.stock["tea"] ?? 0)")
    do {
      try interface.allow("poke:", MethodSignature("v@:^v"))
    } catch {
      TourCommand.say("What means nothing elsewhere is refused:\n\(error)")
    }
  }
}
