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

/// A value of any depth.
struct Tree: Codable, Sendable {
  var text = ""
  var kids: [Tree] = []

  /// Each level is an object with a list, so two levels of JSON.
  static func deep(_ levels: Int) -> Tree {
    levels > 1 ? Tree(kids: [.deep(levels - 1)]) : Tree()
  }
}

/// A C structure with padding.
struct Pair: CallStructure, Equatable, Sendable {
  var one: Int8
  var other: Int64
  static var structure: VouchedStructure<Pair> { unsafe VouchedStructure("{pair=cq}") }
}

/// Records the messages that it receives.
final class Listener: MethodDeclaring {
  var heard: [String] = []

  static let number = try! Message<NoResult, Int32>("number:")
  static let three = try! Message<NoResult, Int32, Double, Bool>("three:of:and:")
  static let text = try! Message<NoResult, String?>("text:")
  static let bytes = try! Message<NoResult, [UInt8]>("bytes:")
  static let point = try! Message<NoResult, Point?>("point:")
  static let pair = try! Message<NoResult, Pair>("pair:")
  static let none = try! Message<NoResult, Point, Nothing, Nothing>("point:nothing:again:")

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("number:") { (self: Listener, a: Int32) in self.heard.append("\(a)") }
    methods.register("three:of:and:") { (self: Listener, a: Int32, b: Double, c: Bool) in
      self.heard.append("\(a) \(b) \(c)")
    }
    methods.register("text:") { (self: Listener, a: String?) in self.heard.append(a ?? "nil") }
    methods.register("bytes:") { (self: Listener, a: [UInt8]) in self.heard.append("\(a)") }
    methods.register("point:") { (self: Listener, a: Point?) in
      self.heard.append("\(a.map { "\($0.x) \($0.tags)" } ?? "nil")")
    }
    methods.register("pair:") { (self: Listener, a: Pair) in
      self.heard.append("\(a.one) \(a.other)")
    }
    methods.register("point:nothing:again:") { (self: Listener, a: Point, _: Nothing, _: Nothing) in
      self.heard.append("\(a.x)")
    }
  }

  /// An interface with all these messages.
  static func interface() throws -> Interface {
    var interface = Interface("listener")
    try interface.allow(number)
    try interface.allow(three)
    try interface.allow(text)
    try interface.allow(bytes)
    try interface.allow(point)
    try interface.allow(pair)
    try interface.allow(none)
    return interface
  }

  /// A call, the text that the listener records for it, the texts of its arguments for a process
  /// that does not have their types, and the bytes of its last arguments.
  typealias Call = (call: Invocation, heard: String, shown: [String], bytes: [UInt8])

  static func calls() throws -> [Call] {
    try [
      (number.invocation(-5), "-5", ["-5"], [251, 255, 255, 255]),
      (three.invocation(1, 0.5, true), "1 0.5 true", ["1", "0.5", "true"], [0, 0xE0, 0x3F, 1]),
      (text.invocation("grüße\0👋"), "grüße\0👋", [#""grüße\u0000👋""#], [0, 240, 159, 145, 139]),
      (text.invocation(""), "", [#""""#], []),
      (text.invocation(nil), "nil", ["null"], []),
      (bytes.invocation([0, 255]), "[0, 255]", [#""00ff""#], [2, 0, 0, 0, 0, 255]),
      // JSON has sorted keys.
      (
        point.invocation(Point(x: 2, tags: ["a"])), #"2.0 ["a"]"#, [#"{"tags":["a"],"x":2}"#],
        Array(#"{"tags":["a"],"x":2}"#.utf8)
      ),
      (point.invocation(nil), "nil", ["null"], []),
      // One byte and eight, of a structure of 16: no byte of the padding.
      (
        pair.invocation(Pair(one: -1, other: 9)), "-1 9", ["[-1,9]"],
        [255, 9, 0, 0, 0, 0, 0, 0, 0]
      ),
      (
        none.invocation(Point(x: 7), Nothing(), Nothing()), "7.0",
        [#"{"tags":[],"x":7}"#, "{}", "{}"], []
      ),
    ]
  }
}
