import Synchronization

// What a class is asked once, and answers with code of its own: to declare its methods, and to resolve
// a selector that it has no method for.
extension MethodTable {
  /// The questions that classes are asked once. They wait together, so that a circle of threads
  /// that wait for each other shows wherever it leads.
  private enum Question: Hashable {
    case declaring(ObjectIdentifier)
    case resolving(ObjectIdentifier, Selector)
  }

  private static let questions = OnceForEach<Question>()

  /// Lets the class declare its methods, once. Other threads wait until it has, because half a
  /// class must not answer. The class itself asks for its table meanwhile, and gets it; so does a
  /// class that this one waits for.
  func declare() {
    let isOver = { self.isDeclared.load(ordering: .acquiring) }
    Self.questions.run(.declaring(ObjectIdentifier(type)), unless: isOver) {
      declaring?.declareMethods(MethodDeclarations(of: type))
      isDeclared.store(true, ordering: .releasing)
    }
  }

  /// The method for a selector, after the class had its one chance to add it.
  func resolved(_ selector: Selector) -> Implementation? {
    if let method = method(for: selector) { return method }
    guard let resolving = forwarding?.type else { return nil }
    let isOver = { self.state.read { $0.resolved.contains(selector) } }
    if isOver() { return nil }
    // Other threads wait for the one answer; the resolver itself may ask, and gets no.
    Self.questions.run(.resolving(ObjectIdentifier(type), selector), unless: isOver) {
      resolving.resolveMethod(selector, in: self)
      state.withLockInPlace { _ = $0.resolved.insert(selector) }
    }
    return method(for: selector)
  }
}
