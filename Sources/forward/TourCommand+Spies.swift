// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Spies

extension TourCommand {
  /// Prints failures with the texts that a test library would show at their lines.
  private struct Printing: SpyReporter {
    func report(_ failure: SpyFailure) { TourCommand.say("\(failure)") }
  }

  private struct Empty: Error, CustomStringConvertible {
    var description: String { "there is nothing to send" }
  }

  static func spies() throws {
    let spy = SpyProxy(reportingTo: Printing())
    let send = try Message<Bool, String>("send:")
    let received = try Message<NoResult, Int, String>("received:text:")
    spy[send].answer { text in text.count < 10 }
    show("spy[send].answer { $0.count < 10 }; send(\"hello\")", "\(try send("hello", on: spy))")
    show("send(\"hello, hello\", on: spy)", "\(try send("hello, hello", on: spy))")
    spy[send].where { $0.isEmpty }.answer(throwing: Empty())
    do {
      _ = try send("", on: spy)
    } catch {
      show("…where { $0.isEmpty }.answer(throwing: Empty()); send(\"\")", "\(error)")
    }
    try received(1, "one", on: spy)
    try received(2, "two", on: spy)
    show("spy[received].received.map(\\.1)", "\(spy[received].received.map(\.1))")
    let isInOrder = verifyInOrder {
      spy[send]
      spy[received].with(2, "two")
    }
    show("verifyInOrder { spy[send]; spy[received].with(2, …) }", "\(isInOrder)")
    say("spy[received].with(2, \"three\").expect() fails, with the nearest call first:")
    spy[received].with(2, "three").expect()
  }
}
