// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import TypeEncodings

/// An argument or a result with values of a Swift type: what a value is, who owns it, and where it
/// lies in the frames of a plan. Determined once per message or method.
@safe
@usableFromInline
@frozen
package struct Place: Sendable {
  /// What is in the frame.
  @usableFromInline
  @frozen
  enum Content: Sendable {
    /// The word is the value's memory, widened.
    case word(FWDKind)
    /// The word is the object, which the sender retains.
    case object
    /// The word is the value's address, in the sender's memory or an invocation's.
    case address
    /// The word is the address of a `String` or `String?`, which have one layout; zero is nil.
    case text
    /// The type converts the value.
    case converted(any CallValue.Type)
    /// There is no value.
    case nothing
  }

  @usableFromInline private(set) var content: Content
  /// The type.
  @usableFromInline private(set) var type: SwiftType
  // Set by `placed`. Of 32 bits, because bodies copy a place of more than four words to the stack.
  /// The offset of the word, or of the value's first byte.
  @usableFromInline private(set) var offset: UInt32 = 0
  /// The number of the place in its plan: 0 is the result.
  private var number: UInt32 = 0

  /// A place for any type. A `Void` result has no value; a `Void` argument has one.
  @usableFromInline
  package init<Value>(of type: Value.Type, isResult: Bool = false, isMethod: Bool = false) {
    self.type = SwiftType(type)
    if isResult, type == Void.self {
      self.type = SwiftType(NoResult.self)
      content = .nothing
      return
    }
    if isMethod, type == String.self || type == String?.self {
      content = .text
      return
    }
    // A search for a conformance takes longer than a call.
    let isClass = type is AnyClass
    if let known = type as? any CallValue.Type, !isClass || !(known is any CallObject.Type) {
      content = Self.content(of: known)
    } else {
      content = isClass ? .object : .address
    }
  }

  private static func content(of type: any CallValue.Type) -> Content {
    // SAFETY: the facts are only read.
    let facts = unsafe type._callFacts(0)
    if let word = facts.word { return .word(word) }
    return type == NoResult.self ? .nothing : .converted(type)
  }

  /// The place of an argument of a plan, or of its result. C promotes variadic arguments, so these
  /// are converted rather than copied.
  func placed(in plan: CallPlan, at index: Int?) -> Place {
    let slot = unsafe index.map { unsafe plan.slots[$0] } ?? plan.result.pointee
    var place = self
    place.number = UInt32(index.map { $0 + 1 } ?? 0)
    if place.isPromoted(in: plan), let type = type.type as? any CallValue.Type {
      place.content = .converted(type)
    }
    place.offset = slot.offset
    return place
  }

  /// The argument's index, or nil for the result.
  private var index: Int? { number == 0 ? nil : Int(number) - 1 }

  /// Whether the place is a variadic argument that is wider than its Swift type.
  func isPromoted(in plan: CallPlan) -> Bool {
    guard let index else { return false }
    return unsafe plan.slots[index].kind != plan.slots[index].declared
  }

  /// The type, if the word of a value is an address; `String` for both types of text.
  var addressed: SwiftType? {
    switch content {
    case .address: type
    case .text: .text
    default: nil
    }
  }

  /// Whether a place of an encoding may hold the address of a value: a C string for text, else a
  /// pointer. An array is refused, because others may set its elements.
  func mayLie(in type: TypeEncoding) -> Bool {
    if case .text = content { return FWDKind(type) == .cString }
    return FWDKind(type) == .pointer && !type.isArray
  }

  /// Whether no place of any call takes the type.
  var isUnfit: Bool {
    // SAFETY: the facts are only read.
    if case .converted(let type) = content { unsafe type._callFacts(0).isUnfit } else { false }
  }

  /// The ownership of a value that is stored.
  var ownership: ValueOwnership {
    switch content {
    case .word, .nothing: .none
    case .object: .object
    case .address, .text: .value
    case .converted(let type): type.ownership
    }
  }

  /// Whether a place of a plan takes the type; 0 is the result.
  func fits(_ plan: CallPlan, place: Int) -> Bool {
    let slot = unsafe place == 0 ? plan.result : plan.slots + (place - 1)
    let kind = unsafe slot.pointee.kind
    switch content {
    case .object: return kind.isObject
    case .address, .text: return plan.swiftType(ofPlace: place) == addressed
    case .nothing: return kind.isNothing
    case .word, .converted:
      guard let type = type.type as? any CallValue.Type else { return false }
      return plan.accepts(type, kind, place: place)
    }
  }

  /// The encoding that is spelled for the type.
  var encoding: String {
    switch content {
    case .object: "@"
    case .nothing: "v"
    case .address: "^{\(Self.name(type.type))}"
    case .text: "*"
    case .word, .converted: (type.type as? any CallValue.Type)?.typeEncoding ?? "?"
    }
  }

  /// The name of a type as the name of a structure: letters, digits and dots. Long names are cut,
  /// so that a whole call fits one encoding. Plans distinguish types of one name.
  private static func name(_ type: Any.Type) -> String {
    // `String(reflecting:)` makes the same text, through a search for conformances and a mirror.
    var rest = _typeName(type)[...]
    var (name, count) = ("", 0)
    while count < 200, let next = rest.first {
      // The name of a private type contains an address, which is removed.
      if next == "(", rest.hasPrefix("(unknown context at "), let end = rest.firstRange(of: ").") {
        rest = rest[end.upperBound...]
        continue
      }
      name.append(next.isASCII && (next.isLetter || next.isNumber || next == ".") ? next : "_")
      count += 1
      rest.removeFirst()
    }
    return name
  }
}

// SAFETY (all): the place was compared with the plan of the slot, and `Value` is its type.
extension Place {
  /// Writes a value. The frame owns it from then on, according to `ownership`.
  @inlinable @unsafe
  @inline(__always)
  func store<Value>(_ value: consuming Value, in slot: ValueSlot) throws(InvocationError) {
    // Chains of tests, as words are the most common, and a switch is a jump through a table.
    if case .word(let word) = content {
      slot.word = unsafe word.widen(value)
      return
    }
    if case .nothing = content { return }
    if case .address = content {
      unsafe slot.word = UInt64(UInt(bitPattern: AnyValue.box(value)))
      return
    }
    try unsafe storeUnusual(value, in: slot)
  }

  @usableFromInline @unsafe
  func storeUnusual<Value>(_ value: Value, in slot: ValueSlot) throws(InvocationError) {
    func convert<Stored: CallValue>(_ type: Stored.Type) throws(InvocationError) {
      try unsafe unsafeBitCast(value, to: Stored.self).store(in: slot)
    }
    switch content {
    case .object: slot.keep(unsafe unsafeBitCast(value, to: AnyObject.self))
    case .text: slot.text = unsafe unsafeBitCast(value, to: String?.self)
    case .converted(let type): try convert(type)
    case .nothing, .word, .address: break
    }
  }

  /// Reads a value.
  @inlinable @unsafe
  @inline(__always)
  func load<Value>(as type: Value.Type, from slot: ValueSlot) throws(InvocationError) -> Value {
    switch content {
    case .address, .text:
      if let address = unsafe UnsafePointer<Value>(bitPattern: UInt(slot.word)) {
        return unsafe address.pointee
      }
    case .object:
      // A cast takes longer than a call, and most objects are of exactly this class.
      if let object = unsafe UnsafeRawPointer(bitPattern: UInt(slot.word)),
        unsafe SwiftBody.isExactly(ObjectIdentifier(type), object)
      {
        return unsafe unsafeBitCast(object, to: Value.self)
      }
    case .word(let word): return unsafe word.narrow(slot.word)
    case .converted, .nothing: break
    }
    return try unsafe loadUnusual(as: type, from: slot)
  }

  @usableFromInline @unsafe
  func loadUnusual<Value>(
    as type: Value.Type, from slot: ValueSlot
  ) throws(InvocationError) -> Value {
    func converted<Stored: CallValue>(_ type: Stored.Type) throws(InvocationError) -> Value {
      unsafe unsafeBitCast(try unsafe Stored.load(from: slot), to: Value.self)
    }
    switch content {
    case .address: throw .missingValue(index: slot.index)
    case .text:
      guard type == String?.self else { throw .notText(index: slot.index) }
      return unsafe unsafeBitCast(String?.none, to: Value.self)
    case .object:
      // An instance of the class or of a subclass.
      return try SwiftBody.receiver(slot.object, as: type)
    case .word(let word): return unsafe word.narrow(slot.word)
    case .converted(let type): return try converted(type)
    case .nothing:
      // `Void` or `NoResult`, which have one value and no size.
      return unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
        unsafe memory.baseAddress.unsafelyUnwrapped.move()
      }
    }
  }
}

// Borrowing a value without a copy, a retain or a release. It is in the sender's memory, or in the
// frame's own word: words are little-endian, so a narrow value is at the beginning of its word.
// SAFETY (all): `Value` is the type of the place, and the frame is a frame of its plan.
extension Place {
  /// Whether a body can borrow the value; false if it must be converted.
  var isLendable: Bool {
    switch content {
    case .word, .object, .address, .text: true
    case .converted, .nothing: false
    }
  }

  /// Whether the value is there and valid, as far as a quick check tells. A cast takes longer than
  /// a call, and most objects are of exactly the declared class.
  @inlinable @unsafe
  @inline(__always)
  func isUsual<Value>(as type: Value.Type, in frame: FrameReference) -> Bool {
    let word = unsafe frame.base + Int(offset)
    // A value of more than eight bytes is in other memory. The compiler drops this test where it
    // knows the type.
    if MemoryLayout<Value>.size > 8 { return unsafe word.load(as: UInt.self) != 0 }
    switch content {
    // C may have stored any byte in a Boolean.
    case .word(let kind): return unsafe kind != .bool || word.load(as: UInt8.self) <= 1
    case .object:
      return unsafe SwiftBody.isExactly(
        ObjectIdentifier(self.type.type), word.load(as: UnsafeRawPointer?.self))
    default: return false
    }
  }

  /// Makes sure that the value may be read.
  ///
  /// - Throws: ``InvocationError`` if the value is missing or an object of another class.
  @unsafe
  func settle(_ frame: FrameReference) throws(InvocationError) {
    let word = unsafe frame.base + Int(offset)
    switch content {
    case .word(let kind):
      if unsafe kind == .bool && word.load(as: UInt8.self) > 1 {
        unsafe word.storeBytes(of: 1, as: UInt8.self)
      }
    case .object:
      try unsafe SwiftBody.checkClass(
        word.load(as: UnsafeRawPointer?.self), ObjectIdentifier(type.type))
    case .address:
      if unsafe word.load(as: UInt.self) == 0 { throw .missingValue(index: index) }
    case .text:
      let isMissing = unsafe word.load(as: UInt.self) == 0
      if isMissing, type.type != String?.self { throw .notText(index: index) }
    case .converted, .nothing: break
    }
  }

  /// The address of the value, valid while the body runs. Requires `isUsual` or a successful
  /// `settle`.
  @inlinable @unsafe
  @inline(__always)
  func pointer<Value>(as type: Value.Type, in frame: FrameReference) -> UnsafePointer<Value> {
    let word = unsafe frame.base + Int(offset)
    if MemoryLayout<Value>.size <= 8 {
      switch content {
      case .word, .object: return unsafe UnsafePointer(word.assumingMemoryBound(to: Value.self))
      default: break
      }
    }
    // Missing text has no address.
    return unsafe word.load(as: UnsafePointer<Value>?.self) ?? Self.missing(as: type)
  }

  @usableFromInline @unsafe
  @inline(never)
  static func missing<Value>(as type: Value.Type) -> UnsafePointer<Value> {
    unsafe UnsafeRawPointer(noText).assumingMemoryBound(to: Value.self)
  }

  // SAFETY: initialized here, and only read afterwards.
  private static nonisolated(unsafe) let noText: UnsafePointer<String?> = {
    let memory = UnsafeMutablePointer<String?>.allocate(capacity: 1)
    unsafe memory.initialize(to: nil)
    return unsafe UnsafePointer(memory)
  }()
}

extension SwiftType {
  /// The type that stands for Swift text in a place of `*`.
  static let text = SwiftType(String.self)
}
