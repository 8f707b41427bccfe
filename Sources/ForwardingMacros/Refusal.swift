// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftDiagnostics
  import SwiftSyntax

  /// What a macro refuses: each sentence names the attribute and the requirement, and says what to write.
  enum Refusal: DiagnosticMessage {
    // Protocols.
    case notAProtocol
    case noForeignProtocol
    case privateNested(String)
    case faceless(String, by: String)
    case unnamedBase(String, by: String)
    case foreignBase(String, by: String)
    case noncopyable(String)
    case associatedType(String, of: String)
    case inheritedType(String, by: String)
    case conditionalType(String)
    // Members.
    case member(String, of: String)
    case operatorFunction(String)
    case opaque(String)
    case selfType(String, of: String)
    case sendingResult(String)
    case sendingVariable(String)
    case sendingClosure(String)
    case delayedError(String)
    case awaitedRethrows(String)
    case variadic(String)
    case tupleOfPack(String)
    case actorWaits(String)
    case actorProperty(String)
    case settableStatic(String)
    // Annotations.
    case noAnswer(String, orThrows: Bool)
    case throwsNothing(String)
    case placeholder(String)
    case answerToNothing(String)
    case answerOfAnyType(String, String)
    case optionalStatic(String)
    case foreignOptional(String)
    case twice(String, String)
    case misplaced(String)
    case annotatedType(String)
    // Delegates.
    case noProperty
    case severalProperties
    case constantDelegates(String)
    case delegatesWord(String, String)
    case delegatesValue(String)
    case delegatesAccessors(String)
    case delegatesType(String)

    var message: String {
      switch self {
      case .notAProtocol: "'@Forwardable' is for protocols: put it on the protocol of the delegates"
      case .noForeignProtocol:
        "'@Forwardable(as:)' takes one protocol: write '(any Module.Delegate).self'"
      case .privateNested(let name):
        "'@Forwardable' cannot extend '\(name)', which is 'private' in another type: write 'fileprivate'"
      case .faceless(let base, let name):
        "'@Forwardable' cannot forward '\(base)': remove it from what '\(name)' inherits"
      case .unnamedBase(let base, let name):
        "'@Forwardable' cannot forward '\(base)': let '\(name)' inherit protocols by their names, each with '@Forwardable'"
      case .foreignBase(let base, let name):
        "'@Forwardable(as:)' cannot forward what '\(name)' inherits: write the requirements of '\(base)' in it"
      case .noncopyable(let subject):
        "'@Forwardable' cannot forward to many targets what cannot be copied: remove '~' from '\(subject)'"
      case .associatedType(let type, let name):
        "'@Forwardable' cannot forward the associated type '\(type)': make it a primary one, 'protocol \(name)<\(type)>'"
      case .inheritedType(let type, let name):
        "'@Forwardable' cannot forward the associated type '\(type)', which '\(name)' inherits: inherit its protocol with types, as 'Listener<Int>'"
      case .conditionalType(let type):
        "'@Forwardable' cannot forward the associated type '\(type)' under a condition: move it out of '#if'"
      case .member(let member, let name):
        "'@Forwardable' cannot forward '\(member)': remove it from '\(name)'"
      case .operatorFunction(let name):
        "'@Forwardable' cannot forward the operator '\(name)': write a method with a name"
      case .opaque(let subject):
        "'@Forwardable' cannot forward the 'some' type of '\(subject)': write 'any'"
      case .selfType(let subject, let name):
        "'@Forwardable' cannot forward 'Self' in '\(subject)', as each target has its own: write 'any \(name)'"
      case .sendingResult(let subject):
        "'@Forwardable' cannot forward the 'sending' result of '\(subject)': let its type be 'Sendable'"
      case .sendingVariable(let subject):
        "'@Forwardable' cannot forward 'inout sending' in '\(subject)': remove one of the words"
      case .sendingClosure(let subject):
        "'@Forwardable' cannot forward the 'sending' closure of '\(subject)': remove 'sending', or write '@escaping'"
      case .delayedError(let subject):
        "'@Forwardable' cannot forward the errors of an autoclosure in '\(subject)': add 'throws', or remove '@autoclosure'"
      case .awaitedRethrows(let subject):
        "'@Forwardable' cannot forward '\(subject)' with 'async' and 'rethrows': write 'throws'"
      case .variadic(let subject):
        "'@Forwardable' cannot forward variadic arguments of '\(subject)': take an array"
      case .tupleOfPack(let subject):
        "'@Forwardable' cannot forward the tuple of a pack in '\(subject)': take the pack, as '_ values: repeat each Value'"
      case .actorWaits(let subject):
        "'@Forwardable' cannot forward '\(subject)' to actors without waiting for them: add 'async'"
      case .actorProperty(let subject):
        "'@Forwardable' cannot forward '\(subject)' to actors without waiting for them: write an 'async' method"
      case .settableStatic(let subject):
        "'@Forwardable' cannot forward the setter of '\(subject)', which is static: write '{ get }'"
      case .noAnswer(let subject, let orThrows):
        "'@Forwardable' cannot tell what '\(subject)' returns if no target answers: put '@Otherwise(value)'\(orThrows ? " or '@Otherwise(throw: error)'" : "") in front of it"
      case .throwsNothing(let subject):
        "'@Otherwise(throw:)' cannot throw from '\(subject)': add 'throws', or write '@Otherwise(value)'"
      case .placeholder(let subject):
        "'@Otherwise' has no value yet: write what '\(subject)' returns if no target answers"
      case .answerToNothing(let subject):
        "'@Otherwise' cannot answer for '\(subject)', which returns nothing: remove '@Otherwise', or add a result"
      case .answerOfAnyType(let subject, let type):
        "'@Otherwise' cannot make a value of any type '\(type)' for '\(subject)': return '\(type)?', or add 'throws'"
      case .optionalStatic(let subject):
        "'@Optional' cannot let a target leave out '\(subject)', which is static: remove '@Optional'"
      case .foreignOptional(let subject):
        "'@Optional' cannot let a target leave out '\(subject)' of another module: remove '@Optional'"
      case .twice(let attribute, let subject):
        "'@\(attribute)' is there twice for '\(subject)': remove one"
      case .misplaced(let attribute):
        "'@\(attribute)' does nothing here: put it on a requirement of a protocol with '@Forwardable'"
      case .annotatedType(let attribute):
        "'@\(attribute)' does nothing for a type: remove it"
      case .noProperty:
        "'@Delegates' makes a stored property: put it on a 'var' of a class, an actor or a structure"
      case .severalProperties:
        "'@Delegates' makes one property: write each 'var' on a line of its own"
      case .constantDelegates(let name):
        "'@Delegates' makes the getter of '\(name)': write 'var' in place of 'let'"
      case .delegatesWord(let word, let name):
        "'@Delegates' makes '\(name)', which is never set: remove '\(word)'"
      case .delegatesValue(let name):
        "'@Delegates' makes the value of '\(name)': remove this one, and use '$\(name).add'"
      case .delegatesAccessors(let name):
        "'@Delegates' makes the getter of '\(name)': remove these"
      case .delegatesType(let name):
        "'@Delegates' needs one protocol for '\(name)', and no optional: write its type as 'any ChatDelegate'"
      }
    }

    var diagnosticID: MessageID {
      MessageID(domain: "Forwarding", id: String("\(self)".prefix { $0 != "(" }))
    }
    var severity: DiagnosticSeverity { .error }
  }

  /// The message of a fix-it.
  struct Remedy: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "Forwarding", id: "remedy") }
  }
#endif
