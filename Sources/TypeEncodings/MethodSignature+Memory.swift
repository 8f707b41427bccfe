import Synchronization

// Who uses signatures finds out about each what takes long, and wants to find it again with the signature.
extension MethodSignature {
  /// The word that was remembered with this signature or a copy of it; 0 before that. What it stands for is
  /// kept as long as one of them.
  package var remembered: UInt { source.memoWord.load(ordering: .acquiring) }

  /// Remembers a word, and keeps what it stands for; the first one stays.
  package func remember(_ word: UInt, keeping keeper: SignatureMemo) {
    source.remember(word, keeping: keeper)
  }
}

/// What is kept as long as a signature that remembers it.
package final class SignatureMemo: Sendable {
  private let value: any AnyObject & Sendable

  package init(_ value: any AnyObject & Sendable) { self.value = value }
}
