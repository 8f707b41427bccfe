// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The layout in which calls of one plan are kept, determined once per plan.
///
/// An image is memory of this layout: the words and the values of a call's arguments, without the
/// receiver and the selector. A ``StoredCall`` is an image in an object of its own, and a
/// ``CallTapes/Tape`` is a list of images.
@safe
struct CallImage: @unchecked Sendable {
  // SAFETY: the plan allocates the lists, frees them in `deinit`, and only reads them in between.
  // Addresses, because iterating over an array would retain and release it at each call.

  /// A word that is copied unchanged.
  struct Word {
    /// The offset in the frame.
    let frame: UInt32
    /// The offset in the image.
    let image: UInt32
  }

  /// A value that the image owns.
  struct Value {
    enum Form {
      /// An object, which is retained; or zero.
      case object
      /// A C string, which is copied; or zero.
      case cString
      /// A `String`, in the image as an optional.
      case text
      /// A value of another Swift type, in the image.
      case value
    }

    let index: Int
    let frame: Int
    let image: Int
    let form: Form
    let type: Any.Type?
    /// The type, if it is one of variables that the sender lends. The image has a snapshot.
    let variable: (any LentVariable.Type)?
  }

  /// The alignment of images.
  let alignment: Int
  /// The size of an image in bytes, a multiple of 8.
  let size: Int
  /// Whether an image is all that a later call needs: no argument refers to memory of the sender,
  /// there is no result, and all arguments are in registers.
  let isEnough: Bool
  /// Nil if there is no such argument.
  private let words: UnsafeMutablePointer<Word>?
  private let wordCount: Int
  private let values: UnsafeMutablePointer<Value>?
  private let valueCount: Int

  /// The image of functions, whose calls are not kept.
  init() {
    (alignment, size, isEnough, wordCount, valueCount) = (8, 0, false, 0, 0)
    unsafe (words, values) = (nil, nil)
  }

  init(
    _ facts: UnsafePointer<FWDPlanFacts>, _ swiftTypes: [SwiftType?], isMethod: Bool
  ) {
    var words: [Word] = []
    var values: [Value] = []
    var size = 0
    var alignment = 8
    var isEnough = unsafe isMethod && facts.pointee.returns_value == 0
    for index in unsafe 0..<Int(facts.pointee.argument_count) {
      let slot = unsafe facts.pointee.slots + index
      let kind = unsafe slot.pointee.kind
      if unsafe slot.pointee.route != .registers || slot.pointee.head != slot.pointee.size {
        isEnough = false
      }
      guard index >= 2 else { continue }
      if kind.isAggregate || kind.isUnownedPointer { isEnough = false }
      guard kind.isOwnable else {
        // At least as many words as the value has, on AArch64 one for each member of four bytes.
        for word in unsafe 0..<(slot.pointee.size + 3) / 4 {
          let offset = unsafe fwd_slot_word(slot, word)
          guard offset != UInt32.max else { continue }
          words.append(Word(frame: offset, image: UInt32(size)))
          size += 8
        }
        continue
      }
      let type = kind.isSwiftValue ? swiftTypes[index + 1]?.type : nil
      let layout = type.map(AnyValue.layout) ?? (size: 8, alignment: 8)
      let variable = type as? any LentVariable.Type
      if variable != nil || layout.alignment > 16 { isEnough = false }
      alignment = max(alignment, layout.alignment)
      size = (size + layout.alignment - 1) / layout.alignment * layout.alignment
      unsafe values.append(
        Value(
          index: index, frame: Int(slot.pointee.offset), image: size,
          form: Self.form(kind, type), type: type, variable: variable))
      size += (layout.size + 7) / 8 * 8
    }
    (self.size, self.alignment, self.isEnough) = (size, alignment, isEnough)
    unsafe self.words = Self.list(words)
    unsafe self.values = Self.list(values)
    (wordCount, valueCount) = (words.count, values.count)
  }

  private static func form(_ kind: FWDKind, _ type: Any.Type?) -> Value.Form {
    guard let type else { return kind.isObject ? .object : .cString }
    return type == String.self ? .text : .value
  }

  private static func list<Element>(_ elements: [Element]) -> UnsafeMutablePointer<Element>? {
    guard !elements.isEmpty else { return nil }
    let list = UnsafeMutablePointer<Element>.allocate(capacity: elements.count)
    unsafe list.initialize(from: elements, count: elements.count)
    return unsafe list
  }

  /// Frees the lists. Only for the plan.
  func free() {
    unsafe words?.deallocate()
    unsafe values?.deallocate()
  }
}

// SAFETY (all): the call is one of the plan. The memory is aligned to `alignment` and has `size`
// bytes; `restore` and `drop` get memory that `capture` has written.
extension CallImage {
  /// Copies the arguments of a call, and retains or copies the values that they refer to.
  ///
  /// - Throws: ``InvocationError`` if a value is missing, or a variable cannot be read. Then the
  ///   image owns nothing.
  @unsafe
  @inline(__always)
  func capture(
    _ call: Call, into image: UnsafeMutableRawPointer
  ) throws(InvocationError) {
    let frame = unsafe call.frame
    if var word = unsafe words {
      let end = unsafe word + wordCount
      repeat {
        unsafe image.storeBytes(
          of: frame.load(fromByteOffset: Int(word.pointee.frame), as: UInt64.self),
          toByteOffset: Int(word.pointee.image), as: UInt64.self)
        unsafe word += 1
      } while unsafe word != end
    }
    if unsafe values != nil { try unsafe keep(frame, image) }
  }

  @unsafe
  private func keep(
    _ frame: UnsafeMutableRawPointer, _ image: UnsafeMutableRawPointer
  ) throws(InvocationError) {
    guard let values = unsafe values else { return }
    for number in 0..<valueCount {
      let value = unsafe values + number
      let word = unsafe frame.load(fromByteOffset: value.pointee.frame, as: UInt64.self)
      let place = unsafe image + value.pointee.image
      switch unsafe value.pointee.form {
      case .object:
        unsafe place.storeBytes(of: word, as: UInt64.self)
        if let object = unsafe UnsafeRawPointer(bitPattern: UInt(word)) {
          _ = unsafe Unmanaged<AnyObject>.fromOpaque(object).retain()
        }
      case .cString:
        unsafe place.storeBytes(
          of: OwnedWord(keeping: word, as: .cString).word, as: UInt64.self)
      case .text:
        let text = unsafe UnsafePointer<String?>(bitPattern: UInt(word))
        unsafe place.initializeMemory(as: String?.self, to: text?.pointee ?? nil)
      case .value:
        do throws(InvocationError) { try unsafe keep(value, word, place) } catch {
          for before in 0..<number { unsafe drop(values + before, image) }
          throw error
        }
      }
    }
  }

  @unsafe
  private func keep(
    _ value: UnsafePointer<Value>, _ word: UInt64, _ place: UnsafeMutableRawPointer
  ) throws(InvocationError) {
    guard let source = unsafe UnsafeRawPointer(bitPattern: UInt(word)),
      let type = unsafe value.pointee.type
    else { throw unsafe .missingValue(index: value.pointee.index) }
    if let variable = unsafe value.pointee.variable {
      try unsafe Self.keep(variable, source, place)
    } else {
      unsafe AnyValue.initialize(type, at: place, to: UInt(bitPattern: source))
    }
  }

  @unsafe
  private static func keep<Variable: LentVariable>(
    _ type: Variable.Type, _ source: UnsafeRawPointer, _ place: UnsafeMutableRawPointer
  ) throws(InvocationError) {
    let kept = try unsafe source.assumingMemoryBound(to: Variable.self).pointee.kept
    unsafe place.initializeMemory(as: Variable.self, to: kept)
  }

  /// Stores the arguments in the frame of a call, which borrows the values of the image.
  @unsafe
  @inline(__always)
  func restore(_ image: UnsafeMutableRawPointer, into call: Call) {
    let frame = unsafe call.frame
    if var word = unsafe words {
      let end = unsafe word + wordCount
      repeat {
        unsafe frame.storeBytes(
          of: image.load(fromByteOffset: Int(word.pointee.image), as: UInt64.self),
          toByteOffset: Int(word.pointee.frame), as: UInt64.self)
        unsafe word += 1
      } while unsafe word != end
    }
    if unsafe values != nil { unsafe lend(image, frame) }
  }

  @unsafe
  private func lend(_ image: UnsafeMutableRawPointer, _ frame: UnsafeMutableRawPointer) {
    guard let values = unsafe values else { return }
    for number in 0..<valueCount {
      let value = unsafe values + number
      let place = unsafe image + value.pointee.image
      var word = UInt64(UInt(bitPattern: place))
      switch unsafe value.pointee.form {
      case .object, .cString: word = unsafe place.load(as: UInt64.self)
      case .text:
        // Missing text has no address.
        if unsafe place.assumingMemoryBound(to: String?.self).pointee == nil { word = 0 }
      case .value: break
      }
      unsafe frame.storeBytes(of: word, toByteOffset: value.pointee.frame, as: UInt64.self)
    }
  }

  /// Releases everything that an image owns.
  @unsafe
  @inline(__always)
  func drop(_ image: UnsafeMutableRawPointer) {
    if unsafe values != nil { unsafe dropAll(image) }
  }

  @unsafe
  private func dropAll(_ image: UnsafeMutableRawPointer) {
    guard let values = unsafe values else { return }
    for number in 0..<valueCount { unsafe drop(values + number, image) }
  }

  @unsafe
  private func drop(_ value: UnsafePointer<Value>, _ image: UnsafeMutableRawPointer) {
    let place = unsafe image + value.pointee.image
    switch unsafe value.pointee.form {
    case .object: OwnedWord(unsafe place.load(as: UInt64.self), .object).release()
    case .cString: OwnedWord(unsafe place.load(as: UInt64.self), .cString).release()
    case .text: unsafe place.assumingMemoryBound(to: String?.self).deinitialize(count: 1)
    case .value:
      if let type = unsafe value.pointee.type { unsafe AnyValue.deinitialize(type, at: place) }
    }
  }
}

extension Invocation {
  /// Makes an invocation without a target from an image of a call, with values of its own.
  ///
  /// - Safety: the image must be one of the plan.
  @unsafe
  convenience init(_ plan: CallPlan, _ selector: Selector, from image: UnsafeMutableRawPointer) {
    self.init(plan, comparedSelector: selector)
    unsafe plan.image.restore(image, into: call)
    call.keepArguments()
  }
}
