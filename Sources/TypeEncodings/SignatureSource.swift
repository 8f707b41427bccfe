// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The types of a signature, and what its users computed from them and keep with it.
final class SignatureSource: Sendable {
  let tree: EncodingTree
  /// The index of each type in the tree: the result, then the arguments.
  let roots: [Int32]
  let shape: MethodSignature.Shape
  private let memo = AtomicLazyReference<SignatureMemo>()
  /// The word that was remembered; 0 if there is no such word yet.
  let memoWord = Atomic<UInt>(0)

  init(_ tree: EncodingTree, _ roots: [Int32], _ shape: MethodSignature.Shape) {
    self.tree = tree
    self.roots = roots
    self.shape = shape
  }

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
  private let value: any AnyObject & Sendable

  package init(_ value: any AnyObject & Sendable) { self.value = value }
}
