public import TypeEncodings

/// Signatures of literals, so that asking twice parses once.
///
/// Only text that is part of the program gets in, and at most ``capacity`` entries: what comes
/// from a file or a socket can neither fill it nor push anything out.
package enum SignatureCache {
  package static let capacity = 1024

  private static let entries = Guarded<[String: MethodSignature]>([:])

  package static var count: Int { entries.read { $0.count } }

  static func signature(for literal: StaticString) throws(TypeEncodingError) -> MethodSignature {
    try signature(ofProgramText: literal.description)
  }

  /// `text` is a literal, or was spelled from Swift types: there are finitely many.
  static func signature(ofProgramText text: String) throws(TypeEncodingError) -> MethodSignature {
    if let known = entries.read({ $0[text] }) { return known }
    let made = try MethodSignature(
      utf8: Array(text.utf8), layouts: StructureLayouts(), isStatic: true)
    entries.withLockInPlace { if $0.count < capacity { $0[text] = made } }
    return made
  }
}

extension MethodSignature {
  /// Makes the signature of a literal, which is parsed once and then shared.
  ///
  /// Text from outside the program belongs into `init(parsing:)`, which fills no cache.
  public init(_ literal: StaticString) throws(TypeEncodingError) {
    self = try SignatureCache.signature(for: literal)
  }
}
