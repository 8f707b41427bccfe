// SPDX-License-Identifier: Apache-2.0
/// What happens to a target that is added again with the same queue.
///
/// ```swift
/// observers.duplicateRule = .allow
/// observers.add(screen)
/// observers.add(screen)
/// observers.count  // 2
/// ```
public enum DuplicateRule: Sendable {
  /// The first registration takes the new options, and its token is returned.
  case ignore
  /// A second registration is made, and the target is called twice.
  case allow
}

/// Which of several results the sender gets.
///
/// ```swift
/// views.add(screen)
/// views.resultRule = .first
/// try Message<Double>("height")(on: views)  // 100.0
/// ```
public enum ResultRule: Sendable {
  /// All targets are called; the last answer counts.
  case last
  /// The first answer counts and ends the delivery.
  case first
}

/// What happens to the remaining targets when one throws.
///
/// ```swift
/// observers.add(screen)
/// observers.errorRule = .atOnce
/// ```
public enum ErrorRule: Sendable {
  /// They are called; then the sender gets the first error.
  case afterAll
  /// They are not called: the first error ends the delivery.
  case atOnce
}

/// What a sender gets for a message that no target answers.
///
/// ```swift
/// let empty = MulticastProxy()
/// let count = try Message<Int32>("count")
/// try count(on: empty)  // throws: no target answered 'count'
/// empty.whenNobodyAnswers = .zero
/// try count(on: empty)  // 0
/// ```
public enum UnansweredRule: Sendable {
  /// An error if the message has a result; nothing if it has none.
  case throwForResults
  /// An error for every message.
  case `throw`
  /// Zero, as from a message to nil.
  case zero
}
