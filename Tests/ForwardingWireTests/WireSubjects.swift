// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Invocations

/// A value that calls in these tests contain.
struct Point: Codable, Hashable, Sendable {
  var x = 0.0
  var tags: [String] = []
}

/// A value of size zero.
struct Nothing: Codable, Equatable, Sendable {}

/// A C structure with padding.
struct Pair: CallStructure, Equatable, Sendable {
  var one: Int8
  var other: Int64
  static var structure: VouchedStructure<Pair> { unsafe VouchedStructure("{pair=cq}") }
}

/// Records the messages that it receives.
final class Listener: @unchecked Sendable {
  var heard: [String] = []

  init() {}

  static func prepare() throws {
    let table = MethodTable.of(Listener.self)
    try table.register("number:", replacing: true) { (self: Listener, a: Int32) in
      self.heard.append("\(a)")
    }
    try table.register("three:of:and:", replacing: true) {
      (self: Listener, a: Int32, b: Double, c: Bool) in self.heard.append("\(a) \(b) \(c)")
    }
    try table.register("text:", replacing: true) { (self: Listener, a: String?) in
      self.heard.append(a ?? "nil")
    }
    try table.register("bytes:", replacing: true) { (self: Listener, a: [UInt8]) in
      self.heard.append("\(a)")
    }
    try table.register("point:", replacing: true) { (self: Listener, a: Point?) in
      self.heard.append("\(a.map { "\($0.x) \($0.tags)" } ?? "nil")")
    }
    try table.register("pair:", replacing: true) { (self: Listener, a: Pair) in
      self.heard.append("\(a.one) \(a.other)")
    }
  }

  /// An interface with all these messages.
  static func interface(limits: WireLimits = WireLimits()) throws -> Interface {
    try prepare()
    var interface = Interface("listener", limits: limits)
    try interface.allow(Message<NoResult, Int32>("number:"))
    try interface.allow(Message<NoResult, Int32, Double, Bool>("three:of:and:"))
    try interface.allow(Message<NoResult, String?>("text:"))
    try interface.allow(Message<NoResult, [UInt8]>("bytes:"))
    try interface.allow(Message<NoResult, Point?>("point:"))
    try interface.allow(Message<NoResult, Pair>("pair:"))
    return interface
  }

  /// One call of each message, and the text that the listener records for it.
  static func calls() throws -> [(Invocation, String)] {
    [
      (try Message<NoResult, Int32>("number:").invocation(-5), "-5"),
      (
        try Message<NoResult, Int32, Double, Bool>("three:of:and:").invocation(1, 0.5, true),
        "1 0.5 true"
      ),
      (try Message<NoResult, String?>("text:").invocation("grüße\0👋"), "grüße\0👋"),
      (try Message<NoResult, String?>("text:").invocation(""), ""),
      (try Message<NoResult, String?>("text:").invocation(nil), "nil"),
      (try Message<NoResult, [UInt8]>("bytes:").invocation([0, 255]), "[0, 255]"),
      (
        try Message<NoResult, Point?>("point:").invocation(Point(x: 2, tags: ["a"])), "2.0 [\"a\"]"
      ),
      (try Message<NoResult, Point?>("point:").invocation(nil), "nil"),
      (
        try Message<NoResult, Pair>("pair:").invocation(Pair(one: -1, other: 1 << 40)),
        "-1 \(1 << 40)"
      ),
    ]
  }
}
