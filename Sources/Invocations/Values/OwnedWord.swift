// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a stored value owns.
@usableFromInline
enum ValueOwnership: UInt8 {
  /// Nothing: the bytes are the value.
  case none
  /// One reference to an object.
  case object
  /// A C string, which is freed.
  case cString
  /// A Swift value in an allocation of its own, which is deinitialized and freed.
  case value
}

/// A word that moves into a frame or out of it, with its ownership.
struct OwnedWord {
  let word: UInt64
  let ownership: ValueOwnership
  /// The type of a Swift value.
  private let type: Any.Type?

  init(_ word: UInt64, _ ownership: ValueOwnership, type: Any.Type? = nil) {
    self.word = word
    self.ownership = word == 0 ? .none : ownership
    self.type = type
  }

  /// Stores a reference to an object, or nil, and retains the object if `isOwned` is set.
  init(_ object: AnyObject?, isOwned: Bool = true) {
    let reference = unsafe object.map { unsafe Unmanaged.passUnretained($0) }
    if isOwned { _ = unsafe reference?.retain() }
    let address = unsafe reference.map { unsafe UInt(bitPattern: $0.toOpaque()) } ?? 0
    self.init(UInt64(address), isOwned ? .object : .none)
  }

  /// Copies or retains the value that a word refers to. Without memory for the copy of a C string
  /// the program ends, as it does where Swift has no memory for an object.
  init(keeping word: UInt64, as ownership: ValueOwnership, type: Any.Type? = nil) {
    var word = word
    switch ownership {
    case .none: break
    case .cString:
      if let text = unsafe UnsafePointer<CChar>(bitPattern: UInt(word)) {
        guard let copy = unsafe strdup(text) else {
          fatalError("no memory for the copy of a C string of \(unsafe strlen(text)) bytes")
        }
        word = UInt64(UInt(bitPattern: copy))
      }
    case .object: _ = unsafe Self.object(at: word)?.retain()
    case .value:
      if let type, let value = unsafe UnsafeRawPointer(bitPattern: UInt(word)) {
        unsafe word = UInt64(UInt(bitPattern: AnyValue.copy(type, at: value)))
      }
    }
    self.init(word, ownership, type: type)
  }

  /// Releases or frees the value, if it is owned.
  func release() {
    switch ownership {
    case .none: break
    case .cString: unsafe free(UnsafeMutableRawPointer(bitPattern: UInt(word)))
    case .object: unsafe Self.object(at: word)?.release()
    case .value:
      if let type, let value = unsafe UnsafeMutableRawPointer(bitPattern: UInt(word)) {
        unsafe AnyValue.end(type, at: value)
      }
    }
  }

  private static func object(at word: UInt64) -> Unmanaged<AnyObject>? {
    unsafe UnsafeRawPointer(bitPattern: UInt(word)).map { unsafe .fromOpaque($0) }
  }
}

/// Operations on Swift values whose type is only known at run time, in allocations of their own.
@usableFromInline
enum AnyValue {
  /// Copies a value into an allocation of its own, and returns the address.
  @unsafe
  static func copy(_ type: Any.Type, at address: UnsafeRawPointer) -> UnsafeMutableRawPointer {
    func copy<Value>(_ type: Value.Type) -> UnsafeMutableRawPointer {
      unsafe box(address.assumingMemoryBound(to: Value.self).pointee)
    }
    return unsafe copy(type)
  }

  /// Moves a value into an allocation of its own.
  @inlinable @unsafe
  static func box<Value>(_ value: consuming Value) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    unsafe memory.initialize(to: value)
    return UnsafeMutableRawPointer(memory)
  }

  /// Deinitializes a value in an allocation of its own, and frees it.
  @unsafe
  static func end(_ type: Any.Type, at address: UnsafeMutableRawPointer) {
    func end<Value>(_ type: Value.Type) {
      let memory = unsafe address.assumingMemoryBound(to: Value.self)
      unsafe memory.deinitialize(count: 1)
      unsafe memory.deallocate()
    }
    end(type)
  }

  /// Moves a value out of its allocation, which is freed.
  @inlinable @unsafe
  static func take<Value>(_ memory: UnsafeMutablePointer<Value>) -> Value {
    defer { unsafe memory.deallocate() }
    return unsafe memory.move()
  }

  /// Reads a value.
  @unsafe
  static func value(_ type: Any.Type, at address: UnsafeRawPointer) -> Any {
    func value<Value>(_ type: Value.Type) -> Any {
      unsafe address.assumingMemoryBound(to: Value.self).pointee
    }
    return value(type)
  }
}
