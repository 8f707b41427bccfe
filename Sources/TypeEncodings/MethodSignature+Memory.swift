// SPDX-License-Identifier: Apache-2.0
import Synchronization

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
