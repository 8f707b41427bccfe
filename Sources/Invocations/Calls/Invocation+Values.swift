// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

extension Invocation {
  /// The declared arguments as Swift values: numbers, `Bool`, `String`, objects, ``Selector``,
  /// addresses as `UnsafeRawPointer`, and the bytes of structures as `[UInt8]`; nil for missing values.
  ///
  /// For code that records, prints or compares calls of any type. To read one argument of a known
  /// type, `argument(at:as:)` is faster and checks the type.
  ///
  /// ```swift
  /// let call = try Message<NoResult, Int32, String>("save:as:").invocation(7, "seven")
  /// call.arguments  // [7, "seven"]
  /// ```
  public var arguments: [Any?] {
    (plan.signature.numberOfHiddenArguments..<plan.argumentCount).map { index in
      call.value(call.slot(index))
    }
  }

  /// The result as a Swift value, as in ``arguments``; nil if there is no result.
  public var resultValue: Any? {
    guard call.hasResult, call.returnsValue else { return nil }
    return call.value(call.resultSlot)
  }
}

extension Call {
  /// The value in a place, as in ``Invocation/arguments``.
  func value(_ slot: ValueSlot) -> Any? {
    if let type = FWDKind.numbers[slot.kind] { return unsafe number(type, slot) }
    // Text that is not UTF-8 has no `String`.
    if slot.kind.isCString, let text = try? unsafe String.load(from: slot) { return text }
    switch slot.kind {
    case .object: return slot.object
    case .swiftValue: return swiftValue(slot)
    case .selector: return Selector(ofWord: slot.word)
    case .aggregate: return slot.bytes
    default: return unsafe UnsafeRawPointer(bitPattern: UInt(slot.word))
    }
  }

  // SAFETY: the type is that of the place's kind.
  @unsafe
  private func number<Value: CallValue>(_ type: Value.Type, _ slot: ValueSlot) -> Any? {
    try? unsafe Value.load(from: slot)
  }

  private func swiftValue(_ slot: ValueSlot) -> Any? {
    guard let type = swiftType(slot),
      let address = unsafe UnsafeRawPointer(bitPattern: UInt(slot.word))
    else { return nil }
    // SAFETY: a place of a Swift type holds the address of such a value, or zero.
    return unsafe AnyValue.value(type, at: address)
  }
}

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
    switch slot.kind {
    case .nothing: return "()"
    case .cString where owns(index):
      guard let text = value(slot) as? String else { return "(text that is not UTF-8)" }
      return "\"" + Self.cut(text.debugDescription, 42).dropFirst()
    case .selector: return (value(slot) as? Selector).map { Self.cut($0.name, 40) } ?? "nil"
    case .object: return slot.object.map { "<\(Self.cut("\(type(of: $0))", 40))>" } ?? "nil"
    // The debug description of a Swift value runs code of its type.
    case .swiftValue:
      return value(slot).map { Self.cut(String(reflecting: $0), 80) } ?? "(no value)"
    case .cString, .block, .classReference, .pointer, .functionPointer:
      return slot.isNull ? "NULL" : "0x" + String(slot.word, radix: 16)
    default: return value(slot).map { Self.cut("\($0)", 80) } ?? "nil"
    }
  }

  @inline(never)
  fileprivate static func cut(_ text: String, _ limit: Int) -> String {
    text.count <= limit ? text : text.prefix(limit - 1) + "…"
  }
}
