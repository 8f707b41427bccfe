// SPDX-License-Identifier: Apache-2.0
public import Invocations
import TypeEncodings

extension Invocation {
  /// Sets the declared arguments from a JSON array.
  ///
  /// The type of an argument decides its form: a number, `true` or `false`, text, `null` for a
  /// missing object or pointer, or an array with the values of a structure's members.
  ///
  /// ```swift
  /// let call = try Invocation(MethodSignature("v@:i*{_Point=dd}"), selector: "mark:as:at:")
  /// try call.setArguments(json: "[7, \"seven\", [0.5, 1]]")
  /// try call.argumentsJSON  // [7,"seven",[0.5,1]]
  /// try call.setArguments(json: "[7, \"seven\"]")  // throws: 3 arguments are expected, 2 were given
  /// ```
  ///
  /// Either all arguments are set or none. Numbers may have 128 bits; an infinity or a NaN is in
  /// quotes: `"inf"`. A variadic float is rounded to a float before C promotes it. Text inside
  /// structures lives as long as the invocation. The result of an earlier call is discarded, because
  /// it may lie in an argument.
  ///
  /// The text is untrusted: it cannot contain addresses, and it can name existing selectors but not
  /// create new ones.
  ///
  /// - Throws: ``InvocationTextError`` if the text is no JSON array, has the wrong number of
  ///   values, or a value does not fit its argument.
  public func setArguments(json: String) throws(InvocationTextError) {
    try setArguments(json, .ownMemory)
  }

  /// Sets the declared arguments from a JSON array that may contain addresses, such as `0x7f00`,
  /// and arrays as the memory behind pointers.
  ///
  /// ```swift
  /// let call = try Invocation(parsing: "dd^i")
  /// try unsafe call.setArguments(unsafeJSON: "[8, [0]]")
  /// try unsafe call.invoke(using: Library("libm.so.6").address(of: "frexp"))
  /// try call.resultJSON     // 0.5
  /// try call.argumentsJSON  // [8,[4]]
  /// ```
  ///
  /// The memory lives as long as the invocation, or until the arguments are set again. Names of
  /// selectors are interned.
  ///
  /// - Throws: ``InvocationTextError`` if the text is no JSON array, has the wrong number of
  ///   values, or a value does not fit its argument.
  /// - Safety: an address must be valid for as long as the call may use it, and an array must be as
  ///   long as the function assumes.
  @unsafe
  public func setArguments(unsafeJSON json: String) throws(InvocationTextError) {
    try setArguments(json, .anywhere)
  }

  /// The declared arguments as a JSON array. Text inside structures is shown only if it was set
  /// from JSON. Other addresses are shown as `"0x7f00"`.
  ///
  /// Throws ``InvocationTextError`` if a value cannot be written, for instance an array of more than
  /// 4096 empty elements, those of nested arrays counted together.
  public var argumentsJSON: String {
    get throws(InvocationTextError) {
      try "\(JSONValue.array(argumentValues(from: methodSignature.numberOfHiddenArguments)))"
    }
  }

  private func setArguments(
    _ json: String, _ reach: ValueCoder.Reach
  ) throws(InvocationTextError) {
    let values: [JSONValue]
    do throws(TextFault) {
      values = try JSONReader.arguments(
        of: json, count: methodSignature.numberOfDeclaredArguments)
    } catch {
      throw InvocationTextError(error, argument: nil, text: json)
    }
    try setArguments(
      values, from: methodSignature.numberOfHiddenArguments, ValueCoder(reach: reach), json)
  }

  /// Sets the last arguments, either all or none.
  package func setArguments(
    _ values: [JSONValue], from first: Int, _ coder: ValueCoder, _ text: String
  ) throws(InvocationTextError) {
    let types = methodSignature.argumentTypes
    var prepared: [PreparedArgument] = []
    for (index, value) in zip(types.indices.dropFirst(first), values) {
      do throws(TextFault) {
        try refusing(at: value.offset) { () throws(InvocationError) in
          try call.checkSettable(index)
        }
        prepared.append(try prepare(value, types[index], index, coder))
      } catch {
        throw InvocationTextError(error, argument: index, text: text)
      }
    }
    call.forgetResult()
    for (offset, argument) in prepared.enumerated() {
      do throws(TextFault) {
        try refusing(at: values[offset].offset) { () throws(InvocationError) in
          try set(argument, first + offset)
        }
      } catch {
        throw InvocationTextError(error, argument: first + offset, text: text)
      }
    }
    if coder.isKeeper || keeper != nil { setKeeper(coder.isKeeper ? coder : nil) }
  }

  private func refusing(
    at offset: Int, _ body: () throws(InvocationError) -> Void
  ) throws(TextFault) {
    do { try body() } catch { throw TextFault(.refused(error), at: offset) }
  }

  private func prepare(
    _ value: JSONValue, _ type: TypeEncoding, _ index: Int, _ coder: ValueCoder
  ) throws(TextFault) -> PreparedArgument {
    if let own = try PreparedArgument(value, type, coder) { return own }
    let bytes = try coder.bytes(ofArgument: value, type)
    guard case .scalar(let scalar) = type.kind, isPromoted(scalar, index) else {
      return .bytes(bytes)
    }
    // A variadic argument is promoted as C would promote it.
    if scalar == .float { return .number(Double(Floats.float(bytes[...]))) }
    return .integer(Integers.parse(value.digits) ?? (bytes == [1] ? 1 : 0))
  }

  private func isPromoted(_ scalar: Scalar, _ index: Int) -> Bool {
    let bytes = try? argumentBytes(at: index)
    return bytes.map { $0.count != scalar.size } ?? false
  }

  private func set(_ argument: PreparedArgument, _ index: Int) throws(InvocationError) {
    switch argument {
    // SAFETY: the coder retains the memory that the bytes refer to, or the caller of the API that
    // accepts addresses guarantees it.
    case .bytes(let bytes): unsafe try setArgument(bytes: bytes, at: index)
    case .text(let text): try setArgument(text, at: index)
    case .selector(let selector): try setArgument(selector, at: index)
    case .integer(let integer): try setArgument(exactly: integer, at: index)
    case .number(let number): try setArgument(number, at: index)
    }
  }

  // MARK: Reading

  /// The arguments from one on. Memory that was made for an argument is shown by its contents.
  /// Inside structures and such memory, text is shown if `isText` returns true or the invocation
  /// retains it.
  package func argumentValues(
    from first: Int, _ isText: ValueCoder.IsText = { _ in false }
  ) throws(InvocationTextError) -> [JSONValue] {
    let types = methodSignature.argumentTypes
    var values: [JSONValue] = []
    for index in types.indices.dropFirst(first) {
      do throws(TextFault) {
        values.append(try value(index, types[index], isText))
      } catch {
        throw InvocationTextError(error, argument: index, text: "")
      }
    }
    return values
  }

  private func value(
    _ index: Int, _ type: TypeEncoding, _ isText: ValueCoder.IsText
  ) throws(TextFault) -> JSONValue {
    if type.kind == .cString, let text = try? Optional.some(argument(at: index, as: String?.self)) {
      return text.map { JSONValue.string($0) } ?? JSONValue.null
    }
    let bytes: [UInt8]
    do { bytes = try argumentBytes(at: index) } catch { throw TextFault(.refused(error), at: 0) }
    let coder = keeper as? ValueCoder
    let isKnown: ValueCoder.IsText = { coder?.isOwnText($0) ?? false || isText($0) }
    if let contents = try coder?.contents(atPointer: bytes, isKnown) { return contents }
    switch type.kind {
    case .cString, .atom: return ValueCoder.text(at: Integers.word(bytes[...]))
    case .array: return .null
    case .selector:
      if let selector = try? argument(at: index, as: Selector.self) {
        return .string(selector.name)
      }
    case .scalar(let scalar) where bytes.count != scalar.size:
      // Promoted by C: a float became a double, a small integer an int.
      return scalar.isFloatingPoint
        ? Floats.value(ofPromoted: bytes[...]) : Integers.value(bytes[...], .int32)
    default: break
    }
    return try ValueCoder.value(of: bytes[...], type, isKnown)
  }
}

/// An argument that was read but is not set yet.
private enum PreparedArgument {
  case bytes([UInt8])
  case text(String)
  case selector(Selector)
  case integer(Int128)
  case number(Double)

  /// An argument that the invocation copies; nil for one that consists only of its bytes.
  init?(_ value: JSONValue, _ type: TypeEncoding, _ coder: ValueCoder) throws(TextFault) {
    switch (type.kind, value.kind) {
    case (.cString, .string(let text)), (.atom, .string(let text)):
      guard !text.utf8.contains(0) else { throw TextFault(.embeddedNUL(type), at: value.offset) }
      self = .text(text)
    case (.selector, .string(let name)):
      self = .selector(try coder.selector(name, value.offset))
    default: return nil
    }
  }
}
