// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TypeEncodings

// The protocols of strings that a class adopts.
extension MethodTable {
  /// Declares that instances conform to a protocol. From then on its optional messages have a
  /// signature, whether they are implemented or not.
  public func adopt(_ description: ProtocolDescription) {
    state.withLock { state in
      if !state.protocols.contains(description) { state.protocols.append(description) }
      hasProtocols.store(true, ordering: .releasing)
    }
  }

  /// The signature of a message in an adopted protocol.
  func requiredSignature(for selector: Selector) -> MethodSignature? {
    if hasProtocols.load(ordering: .acquiring) {
      for description in adoptedProtocols {
        if let known = description.requirement(for: selector) { return known.signature }
      }
    }
    if let known = unsafe knownSuperclass {
      return unsafe known._withUnsafeGuaranteedRef { $0.declared.requiredSignature(for: selector) }
    }
    return superclass?.requiredSignature(for: selector)
  }

  /// The protocols that the class itself adopts.
  package var adoptedProtocols: [ProtocolDescription] {
    hasProtocols.load(ordering: .acquiring) ? state.read { $0.protocols } : []
  }

  /// Whether the class or a superclass adopts a protocol, or another one that includes it.
  public func conforms(to description: ProtocolDescription) -> Bool {
    adoptedProtocols.contains { $0.includes(description) }
      || superclass?.conforms(to: description) ?? false
  }
}
