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
    do throws(InvocationTextError) {
      let (value, type) = (try JSONReader.value(of: json), methodSignature.resultType)
      if type.kind == .void, case .null = value.kind { return }
      try set(prepare(value, type, nil, ValueCoder(reach: .nothing)), nil, value.offset)
    } catch {
      throw error.placed(in: json)
    }
  }

  // MARK: Setting

  private func setArguments(
    _ json: String, _ reach: ValueCoder.Reach
  ) throws(InvocationTextError) {
    let values: [JSONValue]
    do {
      values = try JSONReader.arguments(of: json, count: methodSignature.numberOfDeclaredArguments)
    } catch {
      throw error.placed(in: json)
    }
    try setArguments(
      values, from: methodSignature.numberOfHiddenArguments, ValueCoder(reach: reach), json)
  }

  /// Sets the last arguments, either all or none.
  package func setArguments(
    _ values: [JSONValue], from first: Int, _ coder: ValueCoder, _ text: String
  ) throws(InvocationTextError) {
    let types = methodSignature.argumentTypes
    var prepared: [PreparedValue] = []
    var index = first
    do throws(InvocationTextError) {
      for value in values {
        do { try call.checkSettable(index) } catch { throw .refused(error, at: value.offset) }
        prepared.append(try prepare(value, types[index], index, coder))
        index += 1
      }
      call.forgetResult()
      index = first
      for (value, source) in zip(prepared, values) {
        try set(value, index, source.offset)
        index += 1
      }
    } catch {
      throw error.placed(in: text, argument: index)
    }
    if coder.isKeeper || keeper != nil { setKeeper(coder.isKeeper ? coder : nil) }
  }

  /// Reads a value for an argument, or for the result if there is no index.
  private func prepare(
    _ value: JSONValue, _ type: TypeEncoding, _ index: Int?, _ coder: ValueCoder
  ) throws(InvocationTextError) -> PreparedValue {
    if type.isCText, case .string(let text) = value.kind {
      return .text(try ValueCoder.checked(text, type, value.offset))
    }
    let bytes = try coder.bytes(ofArgument: value, type)
    guard let index, case .scalar(let scalar) = type.kind,
      let place = try? argumentBytes(at: index), place.count != scalar.size
    else { return .bytes(bytes) }
    // C promotes a variadic argument.
    return .bytes(
      scalar == .float
        ? Integers.littleEndian(Double(Floats.float(bytes)).bitPattern)
        : Integers.littleEndian(Int32(Integers.number(bytes, scalar))))
  }

  /// Sets an argument, or the result if there is no index.
  private func set(
    _ value: PreparedValue, _ index: Int?, _ offset: Int
  ) throws(InvocationTextError) {
    do {
      switch (value, index) {
      // SAFETY: the bytes are the whole value. The coder retains the memory that they refer to, or the
      // caller of the API that accepts addresses guarantees it. In a result there are none.
      case (.bytes(let bytes), let index?): unsafe try setArgument(bytes: bytes, at: index)
      case (.bytes(let bytes), nil): unsafe try setResult(bytes: bytes)
      case (.text(let text), let index?): try setArgument(text, at: index)
      case (.text(let text), nil): try setResult(text)
      }
    } catch {
      throw .refused(error, at: offset)
    }
  }

  // MARK: Reading

  /// The result as JSON. Text inside structures is shown if `isText` returns true.
  package func resultJSONValue(
    _ isText: ValueCoder.IsText = { _ in false }
  ) throws(InvocationTextError) -> JSONValue {
    let type = methodSignature.resultType
    return type.kind == .void ? .null : try value(nil, type, isText)
  }

  /// The arguments from one on. Memory that was made for an argument is shown by its contents.
  /// Inside structures and such memory, text is shown if `isText` returns true or the invocation
  /// retains it.
  package func argumentValues(
    from first: Int, _ isText: ValueCoder.IsText = { _ in false }
  ) throws(InvocationTextError) -> [JSONValue] {
    let types = methodSignature.argumentTypes
    var values: [JSONValue] = []
    for index in types.indices.dropFirst(first) {
      do { values.append(try value(index, types[index], isText)) } catch {
        throw error.placed(in: "", argument: index)
      }
    }
    return values
  }

  /// The value of an argument, or of the result if there is no index.
  private func value(
    _ index: Int?, _ type: TypeEncoding, _ isText: ValueCoder.IsText
  ) throws(InvocationTextError) -> JSONValue {
    func read<Value: CallValue>(_ type: Value.Type) -> Value? {
      if let index { try? argument(at: index, as: type) } else { try? result(as: type) }
    }
    if type.kind == .cString, let text = read(String?.self) {
      return text.map { JSONValue.string($0) } ?? JSONValue.null
    }
    let bytes: [UInt8]
    do {
      bytes = if let index { try argumentBytes(at: index) } else { try resultBytes() }
    } catch {
      throw .refused(error, at: 0)
    }
    // Memory of a result may have been freed.
    let coder = index == nil ? nil : keeper as? ValueCoder
    let isKnown: ValueCoder.IsText = { coder?.isOwnText($0) ?? false || isText($0) }
    if let contents = try coder?.contents(atPointer: bytes, isKnown) { return contents }
    switch type.kind {
    case .cString, .atom: return ValueCoder.text(at: Integers.word(bytes))
    case .array: return .null
    case .selector:
      if let selector = read(Selector.self) { return .string(selector.name) }
    case .scalar(let scalar) where bytes.count != scalar.size:
      // Promoted by C: a float became a double, a small integer an int.
      return scalar.isFloatingPoint
        ? Floats.value(ofPromoted: bytes) : Integers.value(bytes[...], .int32)
    default: break
    }
    return try ValueCoder.value(of: bytes[...], type, isKnown)
  }
}

/// A value that was read but is not set yet.
private enum PreparedValue {
  case bytes([UInt8])
  /// The invocation copies it.
  case text(String)
}
