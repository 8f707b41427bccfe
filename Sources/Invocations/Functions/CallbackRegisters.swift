// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// The registers of one call from C, from which a closure reads its arguments.
///
/// C passes words and floating-point numbers in two rows of registers, and Swift functions take them
/// in the same ones. So a closure with this type needs no frame: where the types of its arguments are
/// known, reading them is no code. The initializers of callbacks are inlined for that.
@safe
@frozen
@usableFromInline
struct CallbackRegisters {
  @usableFromInline typealias Integers = (UInt, UInt, UInt, UInt, UInt, UInt)
  @usableFromInline typealias Vectors = (
    Double, Double, Double, Double, Double, Double, Double, Double
  )
  /// The registers of a result.
  @usableFromInline typealias Result = (UInt, UInt, Double, Double)
  /// A closure that the C core calls.
  @usableFromInline typealias Body = @Sendable (Integers, Vectors) throws -> Result

  @usableFromInline let integers: Integers
  @usableFromInline let vectors: Vectors
  /// Whether the members of structures are in vector registers.
  @usableFromInline let areStructuresVectors: Bool
  @usableFromInline var nextArgument = 0
  @usableFromInline var nextInteger = 0
  @usableFromInline var nextVector = 0

  @inlinable
  @inline(__always)
  init(_ integers: Integers, _ vectors: Vectors, _ fit: CallbackFit?) {
    self.integers = integers
    self.vectors = vectors
    areStructuresVectors = fit?.areStructuresVectors ?? false
  }

  /// The result zero.
  @inlinable static var nothing: Result { (0, 0, 0, 0) }

  /// Reads the next argument.
  ///
  /// - Throws: ``InvocationError/nullPointer(index:)``.
  @inlinable
  @inline(__always)
  mutating func next<Value: CallValue>() throws -> Value {
    guard let value: Value = read() else { try Self.refuseNull(lastArgument) }
    return value
  }

  /// The number of the argument that was read last.
  @inlinable var lastArgument: Int { nextArgument - 1 }

  @usableFromInline
  @inline(never)
  static func refuseNull(_ index: Int) throws -> Never {
    throw InvocationError.nullPointer(index: index)
  }

  /// Reads the next argument; nil for a null pointer that its type does not have.
  // SAFETY: the plan of the callback was compared with the types, and with these registers. Every bit
  // pattern is a value of such a type, but for `Bool`, which the C core narrows, and a pointer.
  @inlinable
  @inline(__always)
  mutating func read<Value: CallValue>() -> Value? {
    nextArgument += 1
    let facts = unsafe Value._callFacts(0)
    let first = take(Value.self, facts)
    if let word = facts.word { return unsafe word.narrow(first) as Value }
    if facts.structure == nil, first == 0 { return nil }
    let second = MemoryLayout<Value>.size > 8 ? take(Value.self, facts) : 0
    return unsafe _withUnprotectedUnsafePointer(to: (first, second)) {
      unsafe UnsafeRawPointer($0).assumingMemoryBound(to: Value.self).pointee
    }
  }

  @inlinable
  @inline(__always)
  mutating func take<Value>(_ type: Value.Type, _ facts: ValueFacts) -> UInt64 {
    if facts.isVector || facts.structure != nil && areStructuresVectors {
      defer { nextVector += 1 }
      return vector(nextVector).bitPattern
    }
    defer { nextInteger += 1 }
    return UInt64(integer(nextInteger))
  }

  @inlinable
  @inline(__always)
  func integer(_ index: Int) -> UInt {
    switch index {
    case 0: integers.0
    case 1: integers.1
    case 2: integers.2
    case 3: integers.3
    case 4: integers.4
    default: integers.5
    }
  }

  @inlinable
  @inline(__always)
  func vector(_ index: Int) -> Double {
    switch index {
    case 0: vectors.0
    case 1: vectors.1
    case 2: vectors.2
    case 3: vectors.3
    case 4: vectors.4
    case 5: vectors.5
    case 6: vectors.6
    default: vectors.7
    }
  }

  /// The registers of a result.
  @inlinable
  @inline(__always)
  func returning<Value: CallValue>(_ value: Value) -> Result {
    let facts = unsafe Value._callFacts(0)
    var words: (UInt64, UInt64) = (0, 0)
    if let word = facts.word {
      words.0 = unsafe word.widen(value)
    } else {
      unsafe _withUnprotectedUnsafeMutablePointer(to: &words) {
        unsafe UnsafeMutableRawPointer($0).storeBytes(of: value, as: Value.self)
      }
    }
    if facts.isVector || facts.structure != nil && areStructuresVectors {
      return (0, 0, Double(bitPattern: words.0), Double(bitPattern: words.1))
    }
    return (UInt(words.0), UInt(words.1), 0, 0)
  }
}

extension ValueFacts {
  /// Whether a scalar is in a vector register.
  @inlinable var isVector: Bool { kind == .float || kind == .double }
}

/// A way in which the values of a plan are in registers.
@frozen
@usableFromInline
struct CallbackFit: Sendable {
  @usableFromInline let areStructuresVectors: Bool

  /// Compares where a plan has its values with where ``CallbackRegisters`` reads them. Nil if a value
  /// is elsewhere, or its type converts it.
  @usableFromInline
  init?<Value, each Argument>(_ fitted: FittedPlan<Value, repeat each Argument>) {
    for areVectors in [false, true] {
      let places = fitted.arguments.enumerated().map { index, place in
        (place, unsafe fitted.plan.slots[fitted.first + index])
      }
      guard Self.fits(fitted.result, unsafe fitted.plan.result.pointee, areVectors),
        Self.fits(places, areVectors)
      else { continue }
      areStructuresVectors = areVectors
      return
    }
    return nil
  }

  /// By the types of a closure; nil where they do not fit.
  private static let known = Guarded<[ObjectIdentifier: CallbackFit?]>([:])

  /// How the registers of a C function fit the types of a closure that does not escape.
  @usableFromInline
  static func of<Value: CallValue, each Argument: CallValue>(
    _ types: FittedPlan<Value, repeat each Argument>.Type
  ) -> CallbackFit? {
    let key = ObjectIdentifier(types)
    if let known = known.read({ $0[key] }) { return known }
    let fit = (try? types.init(function: nil)).flatMap { CallbackFit($0) }
    known.withLockInPlace { $0[key] = .some(fit) }
    return fit
  }

  private static let vectors = UInt32(MemoryLayout<FWDFrame>.offset(of: \.vectors) ?? 0)

  private static func fits(_ places: [(Place, FWDSlot)], _ areVectors: Bool) -> Bool {
    var (nextInteger, nextVector) = (UInt32(0), UInt32(0))
    return places.allSatisfy { place, slot in
      guard fits(place, slot, areVectors) else { return false }
      let words = (slot.size + 7) / 8
      let isVector = isVector(slot, areVectors)
      let apart = isVector ? UInt32(FWD_FRAME_VECTOR) : 8
      let offset = isVector ? vectors + apart * nextVector : apart * nextInteger
      if isVector { nextVector += words } else { nextInteger += words }
      var slot = slot
      guard slot.offset == offset, nextInteger <= 6 else { return false }
      return words == 1 || (unsafe fwd_slot_word(&slot, 1)) == offset + apart
    }
  }

  /// Whether a value has its bits in whole registers of one row.
  private static func fits(_ place: Place, _ slot: FWDSlot, _ areVectors: Bool) -> Bool {
    if case .nothing = place.content { return true }
    guard slot.route == .registers, slot.kind == slot.declared else { return false }
    switch place.content {
    case .word: return true
    case .converted(let type):
      // SAFETY: the facts are only read.
      let facts = unsafe type._callFacts(0)
      if facts.zero == .isMissingInMemory { return true }
      // A type that is carried by a structure has other bytes.
      guard facts.structure == type, slot.size <= 16 else { return false }
      return areVectors
        ? slot.component == .double && slot.component_count == (slot.size + 7) / 8
        : slot.component_count == 0 && slot.first == .integer && slot.second != .vector
    default: return false
    }
  }

  private static func isVector(_ slot: FWDSlot, _ areVectors: Bool) -> Bool {
    ValueFacts(slot.kind).isVector || slot.kind == .aggregate && areVectors
  }
}
