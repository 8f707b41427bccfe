// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftDiagnostics
  import SwiftSyntax

  /// A diagnostic that says why a protocol has no face, and how to change the protocol.
  struct Refusal: DiagnosticMessage {
    let id: String
    let message: String

    private init(_ id: String, _ message: String) {
      self.id = id
      self.message = message
    }

    var diagnosticID: MessageID { MessageID(domain: "Forwarding", id: id) }
    var severity: DiagnosticSeverity { .error }

    // MARK: Protocols

    static let notAProtocol = Refusal(
      "notAProtocol",
      "'@Forwardable' makes a face for a protocol; put it on a protocol that your class conforms to"
    )
    static let noForeignProtocol = Refusal(
      "noForeignProtocol",
      "'@Forwardable(as:)' makes a face for one protocol: write it as '(any Module.Delegate).self'")
    static let privateNested = Refusal(
      "privateNested",
      "the extension with the default implementations does not see a 'private' protocol of another type: write 'fileprivate'"
    )
    static func faceless(_ name: String) -> Refusal {
      Refusal(
        "faceless",
        "a face cannot conform to '\(name)', as it stands for many targets: take it out of what the protocol inherits"
      )
    }
    static func unnamedBase(_ name: String) -> Refusal {
      Refusal(
        "unnamedBase",
        "'\(name)' has no face that a macro could name: inherit protocols by their names, each '@Forwardable'"
      )
    }
    static func foreignBase(_ name: String) -> Refusal {
      Refusal(
        "foreignBase",
        "the face conforms to the protocol of the other module alone: restate the requirements of '\(name)' here"
      )
    }
    static let noncopyable = Refusal(
      "noncopyable",
      "'~' lets out what cannot be copied, and each of many targets gets a copy: take it away")
    static func associatedType(_ name: String, _ face: String) -> Refusal {
      Refusal(
        "associatedType",
        "a face has to name '\(name)' in the type of its targets: make it a primary one, as 'protocol \(face)<\(name)>'"
      )
    }
    static let conditionalType = Refusal(
      "conditionalType",
      "an associated type is one of the face's own type parameters, whatever '#if' says: take it out of '#if'"
    )

    // MARK: Members

    static let initializer = Refusal(
      "initializer",
      "a message goes to an object that is there: take the initializer out of the protocol")
    static func member(_ declaration: DeclSyntax) -> Refusal {
      let word = declaration.firstToken(viewMode: .sourceAccurate)?.text ?? "this"
      return Refusal(
        "member",
        "a face has methods, properties and subscripts, and no '\(word)': take it out of the protocol"
      )
    }
    static let operatorFunction = Refusal(
      "operatorFunction",
      "an operator is asked of two values, and a face has many targets: write a method with a name")
    static let opaque = Refusal(
      "opaque", "each target may answer with a type of its own behind 'some': write 'any'")
    static let selfType = Refusal(
      "selfType",
      "targets are of many types, and 'Self' is another one for each: name the protocol with 'any'")
    static let selfResult = Refusal(
      "selfResult",
      "a target answers with one of its own type, and 'Self' is the face here: return the protocol with 'any'"
    )
    static let sendingResult = Refusal(
      "sendingResult",
      "a face returns the answer of one of many targets, and 'sending' promises that no other object has it: let its type be 'Sendable'"
    )
    static let sendingVariable = Refusal(
      "sendingVariable",
      "a face lends the variable to its target, and 'sending' gives it away: take 'inout' or 'sending' away"
    )
    static let sendingClosure = Refusal(
      "sendingClosure",
      "a face lends the closure to its targets, and 'sending' gives it away: take 'sending' away, or write '@escaping'"
    )
    static func delayedError(_ name: String) -> Refusal {
      Refusal(
        "delayedError",
        "an autoclosure may throw inside of what '\(name)' calls alone: let '\(name)' be 'throws', or take '@autoclosure' away"
      )
    }
    static let awaitedRethrows = Refusal(
      "awaitedRethrows",
      "a face cannot pass on the errors of a closure that it waits for: write 'throws' in place of 'rethrows'"
    )
    static let variadic = Refusal(
      "variadic", "Swift has no way to pass variadic arguments on, as a face does: take an array")
    static func actorWaits(_ name: String) -> Refusal {
      Refusal(
        "actorWaits",
        "targets are actors, and the face is another one, which has to wait for them: let '\(name)' be 'async'"
      )
    }
    static let actorProperty = Refusal(
      "actorProperty",
      "targets are actors, and the face is another one, which has to wait for them: write an 'async' method"
    )
    static let optionalStatic = Refusal(
      "optionalStatic",
      "a requirement of the type itself goes to no target that could leave it out: take '@Optional' away"
    )
    static let settableStatic = Refusal(
      "settableStatic",
      "a property of the type itself goes to no target that could keep the value: take 'set' away")

    // MARK: Requirements that no target answers

    static func noAnswer(_ name: String, orThrows: Bool) -> Refusal {
      Refusal(
        "noAnswer",
        "say what '\(name)' returns if no target answers: '@Otherwise(value)'"
          + (orThrows ? " or '@Otherwise(throw: error)'" : "") + " in front of it")
    }
    static func throwsNothing(_ name: String) -> Refusal {
      Refusal(
        "throwsNothing",
        "'\(name)' has no error of its own to throw: let it be 'throws', or write what it answers")
    }
    static func placeholder(_ name: String) -> Refusal {
      Refusal("placeholder", "write what '\(name)' returns if no target answers, in place of this")
    }
    static let answerToNothing = Refusal(
      "answerToNothing",
      "a requirement without a result needs no answer: take '@Otherwise' away, or let it return something"
    )
    static func misplaced(_ name: String) -> Refusal {
      Refusal(
        "misplaced",
        "nothing reads '@\(name)' here: put it on a requirement of a protocol that is '@Forwardable'"
      )
    }
    static func annotatedType(_ name: String) -> Refusal {
      Refusal("annotatedType", "a type is not asked of any target: take '@\(name)' away")
    }
    static let twoAnswers = Refusal(
      "twoAnswers", "there is one answer if no target answers: take the other '@Otherwise' away")
    static let twiceOptional = Refusal(
      "twiceOptional", "a requirement is optional or not: take the other '@Optional' away")
    static let foreignOptional = Refusal(
      "foreignOptional",
      "whether a class left out a requirement of another module, nothing tells: take '@Optional' away"
    )
  }

  /// The message of a fix-it.
  struct Remedy: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "Forwarding", id: "remedy") }
  }
#endif
