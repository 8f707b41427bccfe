public import CForwardingShims

/// An address. It fits every pointer: what it points at is not checked, as in C's `void *`.
public protocol PointerValue: NullableCallValue {
  /// The address as a number.
  var address: UInt { get }
  /// A pointer to an address, nil for 0.
  static func pointer(toAddress address: UInt) -> Self?
  /// Whether the value's memory is the address and nothing else, nil as zero included.
  static var _isBareAddress: Bool { get }
}

extension PointerValue {
  public static var _isBareAddress: Bool { false }
  public static var typeEncoding: String { "^v" }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .pointer) }

  @inlinable
  public static func accepts(_ kind: ValueKind) -> Bool {
    switch kind.raw {
    case .pointer, .functionPointer, .block, .cString: true
    default: false
    }
  }

  @inlinable
  public func store(in slot: ValueSlot) throws(InvocationError) { slot.word = UInt64(address) }

  @inlinable
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    guard let pointer = pointer(toAddress: UInt(slot.word)) else {
      throw .noText(index: slot.index)
    }
    return pointer
  }
}

extension UnsafeRawPointer: @unsafe PointerValue {
  public static var _isBareAddress: Bool { true }
  @inlinable public var address: UInt { UInt(bitPattern: self) }
  @inlinable public static func pointer(toAddress address: UInt) -> UnsafeRawPointer? {
    unsafe UnsafeRawPointer(bitPattern: address)
  }
}

extension UnsafeMutableRawPointer: @unsafe PointerValue {
  public static var _isBareAddress: Bool { true }
  @inlinable public var address: UInt { UInt(bitPattern: self) }
  @inlinable public static func pointer(toAddress address: UInt) -> UnsafeMutableRawPointer? {
    unsafe UnsafeMutableRawPointer(bitPattern: address)
  }
}

extension UnsafePointer: @unsafe CallValue, @unsafe NullableCallValue, @unsafe PointerValue {
  public static var _isBareAddress: Bool { true }
  @inlinable public var address: UInt { UInt(bitPattern: self) }
  @inlinable public static func pointer(toAddress address: UInt) -> UnsafePointer? {
    unsafe UnsafePointer(bitPattern: address)
  }
}

extension UnsafeMutablePointer: @unsafe CallValue, @unsafe NullableCallValue, @unsafe PointerValue {
  public static var _isBareAddress: Bool { true }
  @inlinable public var address: UInt { UInt(bitPattern: self) }
  @inlinable public static func pointer(toAddress address: UInt) -> UnsafeMutablePointer? {
    unsafe UnsafeMutablePointer(bitPattern: address)
  }
}

extension OpaquePointer: @unsafe PointerValue {
  public static var _isBareAddress: Bool { true }
  @inlinable public var address: UInt { UInt(bitPattern: self) }
  @inlinable public static func pointer(toAddress address: UInt) -> OpaquePointer? {
    unsafe OpaquePointer(bitPattern: address)
  }
}

extension Optional: CallValue where Wrapped: NullableCallValue {
  public static var typeEncoding: String { Wrapped.typeEncoding }
  @inlinable public static var valueKind: ValueKind { Wrapped.valueKind }
  @inlinable public static var ownership: ValueOwnership { Wrapped.ownership }

  public static var _word: _WordLayout? {
    (Wrapped.self as? any PointerValue.Type)?._isBareAddress == true ? .whole : nil
  }

  @inlinable
  public static func accepts(_ kind: ValueKind) -> Bool { Wrapped.accepts(kind) }

  @inlinable
  public func store(in slot: ValueSlot) throws(InvocationError) {
    if let self { try self.store(in: slot) } else { slot.word = 0 }
  }

  @inlinable
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Wrapped? {
    slot.isNull ? nil : try Wrapped.load(from: slot)
  }
}

extension Selector: CallValue {
  public static var typeEncoding: String { ":" }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .selector) }

  public func store(in slot: ValueSlot) throws(InvocationError) { slot.word = UInt64(word) }

  /// Throws ``InvocationError/selectorNotSet`` where the place holds no selector of ours.
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Selector {
    guard let selector = SelectorTable.selector(ofWord: slot.word) else { throw .selectorNotSet }
    return selector
  }
}
