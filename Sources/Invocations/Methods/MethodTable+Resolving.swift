// SPDX-License-Identifier: Apache-2.0
import Synchronization

// Code of the class that runs once: to declare its methods, and to resolve a selector without a
// method.
extension MethodTable {
  /// The calls into classes that run once. They share one wait list, so a cycle of threads that
  /// wait for each other is found wherever it leads.
  private enum Question: Hashable {
    case declaring(ObjectIdentifier)
    case resolving(ObjectIdentifier, Selector)
  }

  private static let questions = OnceForEach<Question>()

  /// Lets the class declare its methods, once. Other threads wait for the end, because a
  /// half-declared class must not answer messages. The class itself gets the table while it
  /// declares, and so does a class that this one waits for.
  func declare() {
    let isOver = { self.isDeclared.load(ordering: .acquiring) }
    Self.questions.run(.declaring(ObjectIdentifier(type)), unless: isOver) {
      declaring?.declareMethods(MethodDeclarations(of: type))
      for add in additions { add(self) }
      isDeclared.store(true, ordering: .releasing)
    }
  }

  /// The method for a selector, after the resolver of the class has run once.
  func resolved(_ selector: Selector) -> Implementation? {
    if let method = method(for: selector) { return method }
    guard let resolving = forwarding?.type else { return nil }
    let isOver = { self.state.read { $0.resolved.contains(selector) } }
    if isOver() { return nil }
    // Other threads wait for the resolver. The resolver itself may ask, and gets nil.
    Self.questions.run(.resolving(ObjectIdentifier(type), selector), unless: isOver) {
      resolving.resolveMethod(selector, in: self)
      state.withLockInPlace { _ = $0.resolved.insert(selector) }
    }
    return method(for: selector)
  }
}
