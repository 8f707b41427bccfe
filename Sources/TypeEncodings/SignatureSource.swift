// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The types of a signature, laid out.
final class ParsedSignature: Sendable {
  let tree: EncodingTree
  /// The index of each type in the tree: the result, then the arguments.
  let roots: [Int32]
  let shape: MethodSignature.Shape

  init(
    _ bytes: [UInt8], _ layouts: StructureLayouts, for machine: Machine = .own
  ) throws(TypeEncodingError) {
    var parser = try EncodingParser(bytes, layouts: layouts, for: machine)
    try EncodingBytes.checkUTF8(bytes)
    roots = try parser.parseSignature()
    shape = parser.shape(of: roots)
    tree = EncodingTree(bytes, parser.nodes, for: machine)
  }
}

/// The types of a signature, and what its users computed from them and keep with it.
final class SignatureSource: Sendable {
  let parsed: ParsedSignature
  private let memo = AtomicLazyReference<SignatureMemo>()
  /// The word that was remembered; 0 if there is no such word yet.
  let memoWord = Atomic<UInt>(0)

  init(_ parsed: ParsedSignature) { self.parsed = parsed }

  /// Stores a word for the lifetime of this object. Only the first word is stored.
  func remember(_ word: UInt, keeping keeper: SignatureMemo) {
    guard memo.storeIfNil(keeper) === keeper else { return }
    memoWord.store(word, ordering: .releasing)
  }
}

// Users of signatures cache the results of slow computations with the signature.
extension MethodSignature {
  /// The word that was stored with this signature or a copy of it; 0 before that. The object that
  /// it stands for lives as long as any of them.
  package var remembered: UInt { source.memoWord.load(ordering: .acquiring) }

  /// Stores a word, and retains the object that it stands for. Only the first word is stored.
  package func remember(_ word: UInt, keeping keeper: SignatureMemo) {
    source.remember(word, keeping: keeper)
  }
}

/// An object that lives as long as a signature that stores it.
package final class SignatureMemo: Sendable {
  private let value: (any AnyObject & Sendable)?

  package init(_ value: any AnyObject & Sendable) { self.value = value }

  private init() { value = nil }

  /// In place of an object that a signature may not store.
  static let none = SignatureMemo()
}
