// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

// What is refused of any requirement.
extension ProtocolReader {
  /// Diagnoses a type that a proxy cannot take as an argument or return.
  mutating func check(_ type: TypeSyntax, isResult: Bool = false) {
    let specifiers = type.as(AttributedTypeSyntax.self)?.specifiers ?? []
    for specifier in specifiers where specifier.trimmedDescription == "sending" {
      if isResult {
        refuse(.sendingResult, subject, at: specifier)
      } else if specifiers.contains(where: { $0.trimmedDescription == "inout" }) {
        refuse(.sendingVariable, subject, at: specifier)
      } else if type.isLentClosure {
        refuse(.sendingClosure, subject, at: specifier)
      }
    }
    // The compiler crashes on a closure that captures one.
    if type.is(TupleTypeSyntax.self), type.hasToken({ $0.text == "repeat" }) {
      refuse(.tupleOfPack, subject, at: type)
    }
    for token in type.tokens(viewMode: .sourceAccurate) {
      // `Self.Item` names a type, and is allowed.
      let isPrefix = token.nextToken(viewMode: .sourceAccurate)?.tokenKind == .period
      if token.tokenKind == .keyword(.Self) || alias(token.text)?.namesSelf == true, !isPrefix {
        refuse(.selfType, subject, name, at: token)
      } else if token.text == "~" {
        refuse(.noncopyable, subject, at: type)
      }
    }
  }

  /// Diagnoses a synchronous requirement of an actor: the proxy is another actor, and cannot call
  /// the target without awaiting it.
  mutating func checkWaiting(_ requirement: Requirement) {
    if !proxy.isOfActors || requirement.has("nonisolated") { return }
    if requirement.kind != .method {
      refuse(.actorProperty, subject, at: requirement.name)
    } else if !requirement.isAsync {
      refuse(.actorWaits, subject, at: requirement.name)
    }
  }

  /// The reason why a requirement that is isolated to another actor than its protocol cannot be
  /// sent as a message: a message may be sent from any thread.
  func ownActor(_ requirement: Requirement) -> String? {
    let own = requirement.attributes.first(where: \.namesGlobalActor)?.trimmedDescription
    guard let own, own != proxy.actor, !requirement.isAsync else { return nil }
    return "it belongs to an actor, and its protocol does not"
  }
}
