// SPDX-License-Identifier: Apache-2.0
public import TypeEncodings

/// Caches signatures of literals, so that equal literals are parsed once.
///
/// Only text that is part of the program is cached, and at most ``capacity`` signatures. Text from
/// a file or a socket can neither fill the cache nor evict an entry.
package enum SignatureCache {
  package static let capacity = 1024

  private static let entries = Guarded<[String: MethodSignature]>([:])

  package static var count: Int { entries.read { $0.count } }

  static func signature(for literal: StaticString) throws(TypeEncodingError) -> MethodSignature {
    try signature(ofProgramText: literal.description)
  }

  /// Parses `text`, which is a literal or was spelled from Swift types: a program has finitely
  /// many.
  static func signature(ofProgramText text: String) throws(TypeEncodingError) -> MethodSignature {
    if let known = entries.read({ $0[text] }) { return known }
    let made = try MethodSignature(
      utf8: Array(text.utf8), layouts: StructureLayouts(), isStatic: true)
    // The signature of a thread that was faster stays: dropping it could end a plan under the lock.
    return entries.withLockInPlace { entries in
      if let known = entries[text] { return known }
      if entries.count < capacity { entries[text] = made }
      return made
    }
  }
}

extension MethodSignature {
  /// Makes the signature of a literal, which is parsed once and then shared.
  ///
  /// Parse text from outside the program with `init(parsing:)`, which fills no cache.
  ///
  /// - Throws: `TypeEncodingError` if the literal is not a valid signature.
  public init(_ literal: StaticString) throws(TypeEncodingError) {
    self = try SignatureCache.signature(for: literal)
  }
}
