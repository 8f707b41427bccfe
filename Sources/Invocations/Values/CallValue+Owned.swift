public import CForwardingShims

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A C string that a frame owns.
enum OwnedCString {
  /// A copy of `text` that `free` releases. Refuses a NUL inside, which would cut it.
  static func copy(of text: String) throws(InvocationError) -> UInt64 {
    if let offset = Array(text.utf8).firstIndex(of: 0) { throw .embeddedNUL(offset: offset) }
    guard let copy = unsafe strdup(text) else { throw .outOfMemory }
    return UInt64(UInt(bitPattern: copy))
  }

  /// A copy of the C string at an address, or 0 for NULL.
  static func copy(ofAddress address: UInt64) -> UInt64 {
    guard let text = unsafe UnsafePointer<CChar>(bitPattern: UInt(address)) else { return 0 }
    return unsafe UInt64(UInt(bitPattern: strdup(text)))
  }

  static func release(_ address: UInt64) {
    unsafe free(UnsafeMutableRawPointer(bitPattern: UInt(address)))
  }
}

/// An object whose reference is a word in a frame.
enum OwnedObject {
  static func retain(_ address: UInt64) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(address)) else { return }
    _ = unsafe Unmanaged<AnyObject>.fromOpaque(pointer).retain()
  }

  static func release(_ address: UInt64) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(address)) else { return }
    unsafe Unmanaged<AnyObject>.fromOpaque(pointer).release()
  }

  static func object(at address: UInt64) -> AnyObject? {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(address)) else { return nil }
    return unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
  }

  static func address(of object: AnyObject?) -> UInt64 {
    guard let object else { return 0 }
    return unsafe UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
  }
}

/// Text for `*`. The frame owns a copy; reading returns a copy too.
extension String: NullableCallValue {
  public static var typeEncoding: String { "*" }
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { .reference(.cString) }

  @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    slot.word = try OwnedCString.copy(of: self)
  }

  @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> String {
    // SAFETY: the one who set the argument, or registered the function, vouched for a C string.
    guard let text = unsafe UnsafePointer<CChar>(bitPattern: UInt(slot.word)),
      let value = unsafe String(validatingCString: text)
    else { throw .notText(index: slot.index) }
    return value
  }
}

/// A class whose instances can be arguments and results, as `@`.
///
/// A class has nothing to implement: `extension Account: CallObject {}`.
public protocol CallObject: AnyObject, NullableCallValue {}

extension CallObject {
  public static var typeEncoding: String { "@" }
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { .reference(.object) }

  @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    let address = OwnedObject.address(of: self)
    OwnedObject.retain(address)
    slot.word = address
  }

  @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    guard let object = OwnedObject.object(at: slot.word) else {
      throw .wrongClass(expected: SwiftType(Self.self), given: nil)
    }
    guard let typed = object as? Self else {
      throw .wrongClass(expected: SwiftType(Self.self), given: SwiftType(type(of: object)))
    }
    return typed
  }
}

/// Any object, for closures that do not mind the class.
public struct AnyCallObject: NullableCallValue {
  /// The object.
  public var object: AnyObject

  /// Wraps an object.
  public init(_ object: AnyObject) { self.object = object }

  public static var typeEncoding: String { "@" }
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { .reference(.object) }

  @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    let address = OwnedObject.address(of: object)
    OwnedObject.retain(address)
    slot.word = address
  }

  @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> AnyCallObject {
    guard let object = OwnedObject.object(at: slot.word) else {
      throw .wrongClass(expected: SwiftType(AnyObject.self), given: nil)
    }
    return AnyCallObject(object)
  }
}
