// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation
import Invocations
import Testing
import TypeEncodings

@Suite("Types and messages that can be sent")
struct InterfaceTests {
  /// The error with which an interface refuses a message; nil if it allows it.
  private func error(
    in name: String = "refusing", _ allow: (inout Interface) throws -> Void
  ) throws -> InterfaceError? {
    var interface = Interface(name)
    do { try allow(&interface) } catch let error as InterfaceError {
      #expect(interface.messages.isEmpty)
      return error
    }
    #expect(interface.messages.count == 1)
    return nil
  }

  @Test(
    "a type without a meaning in other processes is refused when its message is allowed",
    arguments: [
      ("v@:^v", 1, InterfaceError.Refusal.local), ("v@:^i", 1, .local), ("v@:^?", 1, .local),
      ("v@:@?", 1, .local), ("v@:[4i]", 1, .local), ("v@:@", 1, .local), ("@@:", 0, .local),
      ("v@::", 1, .local), ("v@:#", 1, .local), ("v@:(u=id)", 1, .unportable),
      ("v@:{s=b0I3b3I5}", 1, .unportable), ("v@:D", 1, .unportable), ("v@:jd", 1, .unportable),
      ("v@:{s=i*}", 1, .local), ("v@:{s=i@}", 1, .local), ("v@:{s=i(u=id)}", 1, .unportable),
      ("v@:{s=[2^v]}", 1, .local), ("^v@:", 0, .local), ("v@:i{e={d={c={b=:}}}}", 2, .local),
      ("v@:{s=[2000{t=ci}]}", 1, .shape), ("v@:{s=iD}", 1, .unportable),
      // The members of one element and of the next lie side by side.
      ("v@:{s=[1024{t=ci}]}", 1, .shape), ("v@:{s=[2D]}", 1, .unportable),
      ("v@:" + nested(8), 1, .depth(limit: 16)),
    ])
  func refused(encoding: String, place: Int, refusal: InterfaceError.Refusal) throws {
    let colons = try MethodSignature(parsing: encoding).numberOfDeclaredArguments
    let selector = try Selector(interning: "m" + String(repeating: ":", count: colons))
    let error = try error { try $0.allow(selector, MethodSignature(parsing: encoding)) }
    guard case .refused(_, place == 0 ? nil : place + 1, _, refusal) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  /// A structure with so many arrays of structures in each other.
  private static func nested(_ count: Int) -> String {
    String(repeating: "{=[1", count: count) + "{=c}" + String(repeating: "]}", count: count)
  }

  @Test("a type with as many parts in each other, or as many pieces, as the limit is allowed")
  func largest() throws {
    for type in [Self.nested(7), "{s=[1023{t=ci}]}", "{s=[2c]}"] {
      let signature = try MethodSignature(parsing: "v@:" + type)
      #expect(try error { try $0.allow("take:", signature) } == nil)
    }
  }

  private struct Opaque: Sendable { var number = 1 }

  /// Why messages with a type are refused, as an argument and as a result; nil if they are not.
  private func refusal<Value: Sendable>(_ type: Value.Type) throws -> InterfaceError.Refusal? {
    let errors = try [
      error { try $0.allow(Message<NoResult, Value>("take:")) },
      error { try $0.allow(Message<Value>("give")) },
    ]
    let refusals = errors.map { error -> InterfaceError.Refusal? in
      if case .refused(_, _, _, let refusal) = error { refusal } else { nil }
    }
    #expect(refusals[0] == refusals[1])
    return refusals[0]
  }

  @Test("a Swift type is refused if it is not Codable, or if Foundation traps for some bytes of it")
  func swiftTypes() throws {
    #expect(try refusal(Opaque.self) == .notCodable)
    #expect(try refusal((@Sendable (Int) -> Void).self) == .notCodable)
    let trapping: [InterfaceError.Refusal?] = try [
      refusal(IndexSet.self), refusal(CharacterSet.self), refusal(URLComponents.self),
      refusal(DateInterval.self), refusal(IndexSet?.self), refusal([[IndexSet?]].self),
      refusal(ContiguousArray<IndexSet>.self), refusal(Set<IndexSet>.self),
      refusal([String: IndexSet].self), refusal([IndexSet: [Int]].self),
    ]
    #expect(trapping.allSatisfy { $0 == .traps }, "\(trapping)")
    let allowed: [InterfaceError.Refusal?] = try [
      refusal([String: [Int?]].self), refusal(Date.self), refusal(Point?.self),
      refusal([Point].self),
    ]
    #expect(allowed.allSatisfy { $0 == nil }, "\(allowed)")
  }

  @Test("the limits of a message: 64 arguments, names of 1,024 bytes, encodings of 16,384")
  func messageLimits() throws {
    for bytes in [16_384, 16_385] {
      // A result, the receiver, the selector, and a structure of bytes.
      let encoding = "i@:{=" + String(repeating: "c", count: bytes - 6) + "}"
      let error = try error { try $0.allow("take:", MethodSignature(parsing: encoding)) }
      let expected = InterfaceError.limit(
        of: "bytes of the encoding of 'take:'", 16_384, given: bytes)
      #expect(error == (bytes > 16_384 ? expected : nil))
    }
    for (count, isFine) in [(64, true), (65, false)] {
      let selector = try Selector(interning: "m" + String(repeating: ":", count: count))
      let signature = try MethodSignature(parsing: "v@:" + String(repeating: "i", count: count))
      #expect(try (error { try $0.allow(selector, signature) } == nil) == isFine)
    }
    for (count, isFine) in [(1024, true), (1025, false), (70_000, false)] {
      let selector = Selector(stringLiteral: String(repeating: "a", count: count))
      #expect(try (error { try $0.allow(Message<NoResult>(selector)) } == nil) == isFine)
    }
  }

  @Test("an interface whose name has more than 255 bytes allows no message")
  func longName() throws {
    let message = try Message<NoResult, Int32>("number:")
    let most = String(repeating: "é", count: 127) + "x"
    #expect(try error(in: most) { try $0.allow(message) } == nil)
    for (name, given) in [(most + "y", 256), (most + "é", 257)] {
      let expected = InterfaceError.limit(
        of: "bytes of the interface's name", 255, given: given)
      #expect(try error(in: name) { try $0.allow(message) } == expected)
      #expect(Interface(name).name == name)
    }
  }

  @Test("a message cannot be allowed again with other types, but with the same ones")
  func duplicates() throws {
    var interface = Interface("twice")
    try interface.allow(AsyncMessage<NoResult, Int32>("number:"))
    #expect(interface.messages.map(\.selector) == ["number:"])
    try interface.allow(Message<NoResult, Int32>("number:"))
    let expected = InterfaceError.duplicate(selector: "number:", expected: "v@:i", given: "v@:q")
    #expect(throws: expected) { try interface.allow(Message<NoResult, Int64>("number:")) }
  }

  @Test("the names of structures are not compared, their members are")
  func spelling() throws {
    var interface = Interface("structures")
    try interface.allow("one:", MethodSignature("v@:{_Point=dd}"))
    try interface.allow("other:", MethodSignature("v@:n{?=dd}"))
    #expect(Set(interface.messages.map(\.encoding)) == ["v@:{=dd}"])
  }

  @Test("two messages of one interface with the same fingerprint are refused when it is made")
  func collision() throws {
    let one = try Message<NoResult, Int32>("depositForClerkNearOwner:")
    let other = try Message<NoResult, String>("payOfCoinsNearSafe:")
    var bank = Interface("bank")
    try bank.allow(one)
    let expected = InterfaceError.sameFingerprint(
      selector: "payOfCoinsNearSafe:", other: "depositForClerkNearOwner:")
    #expect(throws: expected) { try bank.allow(other) }
    #expect(bank.messages.map(\.selector) == ["depositForClerkNearOwner:"])
    // In another interface they differ.
    var shop = Interface("shop")
    try shop.allow(one)
    try shop.allow(other)
    #expect(shop.messages.count == 2)
  }
}
