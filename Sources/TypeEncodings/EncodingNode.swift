// SPDX-License-Identifier: Apache-2.0
/// One type in the preorder list that a parser creates.
///
/// A whole encoding is one flat array: it needs no boxes, is released without recursion, and its
/// size is bounded by the length of the string. The children of a node follow it; `next` skips
/// them.
struct EncodingNode {
  enum Form: UInt8 {
    case void, scalar, complex, cString, atom, object, block, classReference, selector
    case pointer, unknown, array, structure, union, bitField, vector, simd
  }

  var form: Form
  /// The number type of a scalar, a complex number or a bit-field in GNU's dialect.
  var scalar: Scalar = .int8
  var isAtomic = false
  /// Whether a structure has `=`, a block has `<…>`, or a bit-field has a position and a type.
  var hasBody = false
  /// Whether the layout of the structure was registered.
  var isRegistered = false

  /// The range of the whole type in the text, including qualifiers.
  var start: Int32
  var end: Int32 = 0
  /// The end of the qualifiers.
  var base: Int32
  /// The quoted name in front of a member.
  var labelStart: Int32 = 0
  var labelEnd: Int32 = 0
  /// The name of a structure or union, or the quoted class of an object.
  var nameStart: Int32 = 0
  var nameEnd: Int32 = 0
  /// The index behind this node's last descendant.
  var next: Int32 = 0

  /// The element count of an array or vector, or the width of a bit-field.
  var count: Int = 0
  /// In a structure: the offset of this member in bits. Behind an argument: the number in the text.
  var position: Int = 0
  var hasPosition = false

  var size: Int32 = 0
  var alignment: Int32 = 1
  /// The reason why `size` is invalid, and the byte at fault.
  var fault: TypeEncodingError.Reason?
  var faultOffset: Int32 = 0
}

/// The immutable result of a parse: the text and its nodes.
final class EncodingTree: Sendable {
  let bytes: [UInt8]
  let nodes: [EncodingNode]
  /// The places of the advisory numbers inside types, in order.
  let advice: [Range<Int>]
  /// The machine whose C compiler determines the layouts.
  let machine: Machine

  init(_ parser: EncodingParser) {
    bytes = parser.bytes
    nodes = parser.nodes
    advice = parser.advice
    machine = parser.machine
  }

  func text(_ start: Int32, _ end: Int32) -> String {
    String(decoding: bytes[Int(start)..<Int(end)], as: UTF8.self)
  }

  var whole: String { String(decoding: bytes, as: UTF8.self) }
}
