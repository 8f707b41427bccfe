// SPDX-License-Identifier: Apache-2.0
import Invocations
import TypeEncodings

/// How the values of one place of a message's calls are encoded. It is determined once, from the
/// types that this process has.
struct WirePlace: Sendable {
  /// How a value is encoded.
  private enum Way: Sendable {
    /// There is no value.
    case nothing
    /// A number, or a structure of numbers.
    case numbers(NumberLayout)
    /// Text, which may be nil. A C string contains no NUL.
    case text(isOfC: Bool)
    /// A `[UInt8]`.
    case bytes
    /// A value of a `Codable` type, as JSON.
    case value(SwiftType)
  }

  private let way: Way
  /// The canonical spelling of the type, without names of structures and without qualifiers.
  let spelling: String
  /// The place in its calls; 0 is the result.
  private let index: Int
  private let limits: WireLimits

  init(
    _ type: TypeEncoding, at index: Int, of plan: CallPlan, _ limits: WireLimits
  ) throws(InterfaceError.Refusal) {
    (self.index, self.limits) = (index, limits)
    switch (plan.swiftType(ofPlace: index)?.type, type.kind) {
    case (is String.Type, _): (way, spelling) = (.text(isOfC: false), "*")
    case (is [UInt8].Type, _): (way, spelling) = (.bytes, "\(type)")
    case (let swift?, _):
      guard swift is any Codable.Type else { throw .notCodable }
      if TrappingTypes.contain(swift) { throw .traps }
      (way, spelling) = (.value(SwiftType(swift)), "\(type)")
    case (nil, .void): (way, spelling) = (.nothing, "v")
    case (nil, .cString), (nil, .atom): (way, spelling) = (.text(isOfC: true), "*")
    // Also refuses an address.
    case (nil, _):
      (way, spelling) = (.numbers(try NumberLayout(type, limits)), type.canonicalSpelling)
    }
  }

  /// The spelling of `[UInt8]`, which is not encoded as JSON.
  static let bytesSpelling = "^{Swift.Array_Swift.UInt8_}"

  /// Whether there is no value.
  var isNothing: Bool { if case .nothing = way { true } else { false } }

  func write(_ call: Invocation, to writer: inout WireWriter) throws(WireError) {
    let start = writer.count
    do {
      switch way {
      case .nothing: return
      case .numbers(let layout): try writer.append(index, of: call, layout)
      case .text:
        guard let text = try call.value(ofPlace: index, as: String?.self) else {
          return try writer.append(UInt32.max)
        }
        try writer.append(counted: text.utf8, limit: limits.text)
      case .bytes:
        let bytes = try call.value(ofPlace: index, as: [UInt8].self)
        try writer.append(counted: bytes, limit: limits.text)
      case .value(let type):
        func json<Value: Codable>(_ type: Value.Type) throws -> [UInt8] {
          try ValueJSON.text(of: call.value(ofPlace: index, as: type), limits, at: start)
        }
        guard let type = type.type as? any Codable.Type else {
          throw InterfaceError.Refusal.notCodable
        }
        try writer.append(counted: json(type), limit: limits.text)
      }
    } catch {
      throw wrapped(error, at: start)
    }
  }

  func read(_ call: Invocation, from reader: inout WireReader) throws(WireError) {
    let start = reader.offset
    do {
      switch way {
      case .nothing: return
      case .numbers(let layout): try reader.set(index, of: call, layout)
      case .text(let isOfC):
        let text = try reader.optionalText(limits)
        if isOfC, text?.utf8.contains(0) == true { throw WireError(.embeddedNUL, at: start) }
        try call.set(text, ofPlace: index)
      case .bytes: try call.set(reader.countedBytes(limits), ofPlace: index)
      case .value(let type):
        let json = try reader.countedBytes(limits)
        func set<Value: Codable>(_ type: Value.Type) throws {
          try call.set(ValueJSON.value(type, of: json, limits, at: start), ofPlace: index)
        }
        guard let type = type.type as? any Codable.Type else {
          throw InterfaceError.Refusal.notCodable
        }
        try set(type)
      }
    } catch {
      throw wrapped(error, at: start)
    }
  }

  private func wrapped(_ error: any Error, at offset: Int) -> WireError {
    switch error {
    case let error as WireError: error
    case let error as InvocationError: WireError(.refused(error), at: offset)
    default: WireError(.value(type: spelling, ValueJSON.reason(error)), at: offset)
    }
  }
}

extension Invocation {
  /// The value of a place; place 0 is the result.
  fileprivate func value<Value>(
    ofPlace place: Int, as type: Value.Type
  ) throws(InvocationError) -> Value {
    place == 0 ? try result(as: type) : try argument(at: place - 1, as: type)
  }

  /// Sets the value of a place; place 0 is the result.
  fileprivate func set<Value>(_ value: Value, ofPlace place: Int) throws(InvocationError) {
    if place == 0 { try setResult(value) } else { try setArgument(value, at: place - 1) }
  }
}

extension WireReader {
  /// Reads a number of bytes, which must be within the limit, and the bytes.
  mutating func countedBytes(_ limits: WireLimits) throws(WireError) -> [UInt8] {
    let start = offset
    let count = Int(try uint32())
    guard count <= limits.text else {
      throw WireError(.limit(limits.text, given: count), at: start)
    }
    return try bytes(count)
  }

  /// Reads text; nil if the value is nil.
  mutating func optionalText(_ limits: WireLimits) throws(WireError) -> String? {
    var ahead = self
    if try ahead.uint32() == .max {
      self = ahead
      return nil
    }
    let bytes = try countedBytes(limits)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw WireError(.notText, at: offset - bytes.count)
    }
    return text
  }
}
