// SPDX-License-Identifier: Apache-2.0
public import Invocations
import TypeEncodings

extension Invocation {
  /// The result of the last call, or of `setResult`, as JSON; `null` for `v`.
  ///
  /// Text inside structures is shown as its address, because the memory may have been freed.
  ///
  /// ```swift
  /// let call = try Invocation(parsing: "{div_t=ii}ii")
  /// try call.setArguments(json: "[17, 5]")
  /// try unsafe call.invoke(using: Library("libc.so.6").address(of: "div"))
  /// try call.resultJSON  // [3,2]
  /// ```
  ///
  /// Throws ``InvocationTextError`` with the reason
  /// ``Invocations/InvocationError/resultNotAvailable`` if there is no result.
  public var resultJSON: String {
    get throws(InvocationTextError) { "\(try resultJSONValue())" }
  }

  /// The result as JSON. Text inside structures is shown if `isText` returns true.
  package func resultJSONValue(
    _ isText: ValueCoder.IsText = { _ in false }
  ) throws(InvocationTextError) -> JSONValue {
    do throws(TextFault) { return try readResult(isText) } catch {
      throw InvocationTextError(error, argument: nil, text: "")
    }
  }

  private func readResult(_ isText: ValueCoder.IsText) throws(TextFault) -> JSONValue {
    let type = methodSignature.resultType
    let bytes: [UInt8]
    if type.kind == .void { return .null }
    if type.kind == .cString, let text = try? Optional.some(result(as: String?.self)) {
      return text.map { JSONValue.string($0) } ?? JSONValue.null
    }
    do { bytes = try resultBytes() } catch { throw TextFault(.refused(error), at: 0) }
    switch type.kind {
    case .cString, .atom: return ValueCoder.text(at: Integers.word(bytes[...]))
    case .selector:
      if let selector = try? result(as: Selector.self) { return .string(selector.name) }
    default: break
    }
    return try ValueCoder.value(of: bytes[...], type, isText)
  }

  /// Sets the result from JSON, in the form of its type.
  ///
  /// ```swift
  /// let answers = try Implementation(MethodSignature(method: "{_Point=dd}@:")) { call in
  ///   try call.setResult(json: "[0.5, 1]")
  /// }
  /// answers.signature  // {_Point=dd}@:
  /// ```
  ///
  /// Text is copied. A pointer must be `null`, and a structure cannot refer to memory, which would
  /// have no owner.
  ///
  /// - Throws: ``InvocationTextError`` if the text is no JSON value or does not fit the result.
  public func setResult(json: String) throws(InvocationTextError) {
    do throws(TextFault) {
      try writeResult(JSONReader.value(of: json), ValueCoder(reach: .nothing))
    } catch {
      throw InvocationTextError(error, argument: nil, text: json)
    }
  }

  private func writeResult(_ value: JSONValue, _ coder: ValueCoder) throws(TextFault) {
    let type = methodSignature.resultType
    do {
      switch (type.kind, value.kind) {
      case (.void, .null): break
      case (.cString, .string(let text)), (.atom, .string(let text)):
        guard !text.utf8.contains(0) else { throw TextFault(.embeddedNUL(type), at: value.offset) }
        try setResult(text)
      case (.selector, .string(let name)):
        try setResult(try coder.selector(name, value.offset))
      default:
        let bytes = try coder.bytes(ofArgument: value, type)
        // SAFETY: the bytes are the whole value. A coder with the reach `nothing` makes no
        // references.
        unsafe try setResult(bytes: bytes)
      }
    } catch let error as TextFault {
      throw error
    } catch let error as InvocationError {
      throw TextFault(.refused(error), at: value.offset)
    } catch {
      // No other errors are thrown.
    }
  }
}
