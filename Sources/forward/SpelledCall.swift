// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import Foundation
import InvocationText

/// A call whose message and arguments the user wrote. Its types are not requested from the other
/// process, which compares them with its own.
struct SpelledCall: Sendable {
  let interface: Interface
  let message: InterfaceMessage
  private let values: [Value]

  /// An argument, in the form in which it is set.
  private enum Value: Sendable {
    case text(String)
    case bytes([UInt8])
    case json(RawJSON)
    /// A number, or the numbers of a structure, in C's representation.
    case numbers([UInt8])
  }

  /// An argument or type that could not be read.
  struct Unreadable: Error, CustomStringConvertible {
    let description: String
  }

  /// Parses a message's types and its arguments from a command line.
  init(
    to interface: String, _ selector: String, _ encoding: String, _ given: [String],
    _ options: Options
  ) throws {
    let selector = try Selector(interning: selector)
    let signature = try MethodSignature(method: encoding)
    var allowed = Interface(interface)
    let types = ([signature.resultType] + signature.argumentTypes).map(Self.swiftType)
    try allowed.allow(
      selector,
      CallPlan.shared(
        for: signature, swiftTypes: types.contains { $0 != nil } ? types : []))
    guard let message = allowed.messages.first else { throw RemoteError.closed }
    self.interface = allowed
    self.message = message
    guard given.count == signature.numberOfDeclaredArguments else {
      let error = InvocationError.argumentCount(
        expected: signature.numberOfDeclaredArguments, given: given.count)
      throw options.fault("\(selector) \(message.encoding): \(error)")
    }
    values = try zip(given, signature.argumentTypes.dropFirst(2)).map(Self.value)
  }

  /// The Swift type for a place: text, bytes, and `RawJSON` for any other `Codable` type.
  private static func swiftType(of type: TypeEncoding) -> SwiftType? {
    switch type.kind {
    case .cString: SwiftType(String.self)
    case .pointer(let pointee):
      // Only a Swift type is spelled as a structure without members; other pointers are refused.
      if case .structure(let name, nil) = pointee.kind, !name.isEmpty {
        SwiftType(isBytes(type) ? [UInt8].self : RawJSON.self)
      } else {
        nil
      }
    default: nil
    }
  }

  private static func isBytes(_ type: TypeEncoding) -> Bool {
    "\(type)" == "^{Swift.Array_Swift.UInt8_}"
  }

  private static func value(_ text: String, _ type: TypeEncoding) throws -> Value {
    switch type.kind {
    case .cString: return .text(text)
    case .pointer where isBytes(type):
      guard let bytes = bytes(text) else {
        throw Unreadable(description: "'\(text)' is no value for \(type): write bytes as 00ff7f")
      }
      return .bytes(bytes)
    case .pointer:
      do {
        return .json(try JSONDecoder().decode(RawJSON.self, from: Data(text.utf8)))
      } catch {
        throw Unreadable(
          description: "'\(text)' is no value for \(type): write JSON, such as {\"count\":1}")
      }
    default:
      let value = try ValueCoder.value(ofArgument: text, type)
      return .numbers(try ValueCoder(reach: .nothing).bytes(ofArgument: value, type))
    }
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    if digits.count % 2 != 0 { return nil }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: digits.count, by: 2) {
      let pair = digits[start..<start + 2]
      guard pair.allSatisfy({ $0 != UInt8(ascii: "+") }),
        let byte = UInt8(String(decoding: pair, as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// The call as an invocation of this process.
  func invocation() throws -> Invocation {
    let call = Invocation(message.plan)
    try call.setSelector(message.selector)
    for (index, value) in zip(2..., values) {
      switch value {
      case .text(let text): try call.setArgument(text, at: index)
      case .bytes(let bytes): try call.setArgument(bytes, at: index)
      case .json(let json): try call.setArgument(json, at: index)
      // SAFETY: the bytes are a value of the place's type, and refer to nothing.
      case .numbers(let bytes): unsafe try call.setArgument(bytes: bytes, at: index)
      }
    }
    return call
  }

  /// The result of a call, in the same form as other values from outside.
  func result(of call: Invocation) throws -> WireValue {
    try WireTypes(message.encoding).result(interface.encodeResult(of: call))
  }
}

/// JSON in place of a value whose type this process does not have.
enum RawJSON: Codable, Sendable {
  case null
  case bool(Bool)
  case integer(Int128)
  case number(Double)
  case text(String)
  case list([RawJSON])
  case object([String: RawJSON])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? value.decode(Int128.self) {
      self = .integer(number)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([RawJSON].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: RawJSON].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let flag): try value.encode(flag)
    case .integer(let number): try value.encode(number)
    case .number(let number): try value.encode(number)
    case .text(let text): try value.encode(text)
    case .list(let list): try value.encode(list)
    case .object(let members): try value.encode(members)
    }
  }
}
