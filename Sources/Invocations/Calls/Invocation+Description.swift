// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

extension Invocation: CustomStringConvertible {
  /// The maximum length of a description, in characters.
  static var descriptionLimit: Int { 400 }

  /// The signature, target, selector and arguments in one line of bounded length.
  ///
  /// Pointers are not followed. Of the C strings, only copies that the invocation owns are shown.
  public var description: String {
    var text = "<Invocation \(Call.cut("\(plan.signature)", 80))"
    if plan.signature.shape == .method {
      text += " \(target.map { Call.cut("\(type(of: $0))", 40) } ?? "nil")"
      text += " \(selector.map { Call.cut($0.name, 60) } ?? "(no selector)")"
    }
    let declared = plan.signature.numberOfHiddenArguments..<plan.argumentCount
    for index in declared {
      if text.count > Self.descriptionLimit {
        text += " …\(declared.upperBound - index) more"
        break
      }
      text += " \(call.describe(index))"
    }
    return Call.cut(text, Self.descriptionLimit + 80) + ">"
  }
}

extension Call {
  /// An argument as it is in the description of its invocation; missing text is nil.
  package func text(ofArgument index: Int) -> String {
    guard index >= 0, index < argumentCount else { return "?" }
    let slot = slot(index)
    return slot.kind.isSwiftValue && slot.isNull ? "nil" : describe(index)
  }

  fileprivate func describe(_ index: Int) -> String {
    let slot = slot(index)
    let word = slot.word
    let unused = UInt64(64 - min(8, slot.size) * 8)
    return switch slot.kind {
    case .nothing: "()"
    // C leaves the bits above a narrow number undefined.
    case .int8, .int16, .int32, .int64: "\(Int64(bitPattern: word << unused) >> Int64(unused))"
    case .uInt8, .uInt16, .uInt32, .uInt64: "\((word << unused) >> unused)"
    case .bool: "\(Bool(word: word))"
    case .float: "\(Float(word: word))"
    case .double: "\(Double(word: word))"
    case .cString where owns(index):
      (try? unsafe String.load(from: slot)).map {
        "\"" + Self.cut($0.debugDescription, 42).dropFirst()
      }
        ?? "(text that is not UTF-8)"
    case .selector: (try? unsafe Selector.load(from: slot)).map { Self.cut($0.name, 40) } ?? "nil"
    case .object:
      slot.object.map { "<\(Self.cut("\(type(of: $0))", 40))>" } ?? "nil"
    case .swiftValue: describeValue(slot)
    case .cString, .block, .classReference, .pointer, .functionPointer:
      word == 0 ? "NULL" : "0x" + String(word, radix: 16)
    case .int128, .uInt128, .longDouble, .complexFloat, .complexDouble, .complexLongDouble,
      .aggregate:
      slot.hex(limit: 32)
    }
  }

  /// The debug description of a Swift value, which runs code of its type.
  private func describeValue(_ slot: ValueSlot) -> String {
    value(slot).map { Self.cut(String(reflecting: $0), 80) }
      ?? "(no value)"
  }

  @inline(never)
  fileprivate static func cut(_ text: String, _ limit: Int) -> String {
    text.count <= limit ? text : text.prefix(limit - 1) + "…"
  }
}
