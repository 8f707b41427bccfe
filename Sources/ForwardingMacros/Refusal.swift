#if canImport(SwiftSyntaxMacros)
  import SwiftDiagnostics
  import SwiftSyntax

  /// Why there is no face for a protocol, and what to do instead.
  enum Refusal: String, DiagnosticMessage, CaseIterable {
    case notAProtocol =
      "'@Forwardable' makes a face for a protocol; put it on a protocol that your class conforms to"
    case nested =
      "a face cannot stand inside of another type: move the protocol to the top of the file"
    case notClassBound =
      "a face stands for objects: let the protocol inherit 'AnyObject'"
    case inheritance =
      "a face cannot conform to this: inherit 'AnyObject', and protocols that are '@Forwardable', too"
    case associatedType =
      "a face has targets of many types at once: use a type in place of the associated type"
    case staticMember =
      "a message goes to an object: make the requirement one of instances, or take it out"
    case initializer =
      "a message goes to an object that is there: take the initializer out of the protocol"
    case subscripting = "a face has no subscripts: write a method in its place"
    case generic =
      "a message has types that are known: use 'any' and a protocol in place of the type parameter"
    case opaque = "a message has types that are known: write 'any' in place of 'some'"
    case selfType =
      "targets are of many types, and 'Self' is another one for each: name the protocol with 'any'"
    case variadic = "a message has as many arguments as its name says: take an array"
    case nonescaping =
      "a target on another queue keeps the closure: let it be '@escaping'"
    case autoclosure = "a target on another queue keeps the closure: take it as '@escaping' closure"
    case actorWaits =
      "targets are actors, and the face is another one, which has to wait for them: let it be 'async'"
    case actorProperty =
      "targets are actors, and the face is another one, which has to wait for them: write an 'async' method"
    case awaitedInout =
      "a target that is awaited would have the variable for long: return the value in place of 'inout'"
    case isolatedArgument =
      "a face cannot hop to the actor of an argument: take it without 'isolated'"
    case sending =
      "a face hands one value to several targets, and 'sending' gives it to one: let its type be 'Sendable'"
    case optionalProperty = "a property cannot be left out: let it be nil, or write a method"
    case effectfulAccessor = "a property that is async or throws has no message: write a method"
    case noAnswer = "say what it answers when nobody does: '@Otherwise(value)' in front of it"
    case answerToNothing =
      "a requirement without a result needs no answer: take '@Otherwise' away, or let it return something"
    case twoAnswers = "there is one answer when nobody does: take the other '@Otherwise' away"
    case member = "a face cannot do this: take it out of the protocol"

    var message: String { rawValue }
    var diagnosticID: MessageID { MessageID(domain: "Forwarding", id: "\(self)") }
    var severity: DiagnosticSeverity { .error }
  }

  /// What a fix-it does.
  struct Remedy: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "Forwarding", id: "remedy") }
  }
#endif
