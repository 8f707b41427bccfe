// SPDX-License-Identifier: Apache-2.0
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What a macro refuses: each sentence names the attribute and the requirement, and says what to write.
/// Names take the places of `%`.
enum Refusal: String {
  // Protocols.
  case notAProtocol = "'@Forwardable' is for protocols: put it on the protocol of the delegates"
  case noForeignProtocol =
    "'@Forwardable(as:)' takes one protocol: write '(any Module.Delegate).self'"
  case privateNested =
    "'@Forwardable' cannot extend '%', which is 'private' in another type: write 'fileprivate'"
  case proxyless = "'@Forwardable' cannot forward '%': remove it from what '%' inherits"
  case foreignBase =
    "'@Forwardable(as:)' cannot forward what '%' inherits: write the requirements of '%' in it"
  case noncopyable =
    "'@Forwardable' cannot forward to many targets what cannot be copied: remove '~' from '%'"
  case associatedType =
    "'@Forwardable' cannot forward the associated type '%': make it a primary one, 'protocol %<%>'"
  case inheritedType =
    "'@Forwardable' cannot forward the associated type '%', which '%' inherits: inherit its protocol with types, as 'Listener<Int>'"

  // Members.
  case member = "'@Forwardable' cannot forward '%': remove it from '%'"
  case selfType =
    "'@Forwardable' cannot forward 'Self' in '%', as each target has its own: write 'any %'"
  case sendingResult =
    "'@Forwardable' cannot forward the 'sending' result of '%': let its type be 'Sendable'"
  case sendingVariable =
    "'@Forwardable' cannot forward 'inout sending' in '%': remove one of the words"
  case sendingClosure =
    "'@Forwardable' cannot forward the 'sending' closure of '%': remove 'sending', or write '@escaping'"
  case delayedError =
    "'@Forwardable' cannot forward the errors of an autoclosure in '%': add 'throws', or remove '@autoclosure'"
  case awaitedRethrows =
    "'@Forwardable' cannot forward '%' with 'async' and 'rethrows': write 'throws'"
  case variadic = "'@Forwardable' cannot forward variadic arguments of '%': take an array"
  case tupleOfPack =
    "'@Forwardable' cannot forward the tuple of a pack in '%': take the pack, as '_ values: repeat each Value'"
  case actorWaits =
    "'@Forwardable' cannot forward '%' to actors without waiting for them: %"
  case settableStatic =
    "'@Forwardable' cannot forward the setter of '%', which is static: write '{ get }'"

  // Annotations.
  case noAnswer =
    "'@Forwardable' cannot tell what '%' returns if no target answers: put '@Otherwise(value)' in front of it"
  case noAnswerOrError =
    "'@Forwardable' cannot tell what '%' returns if no target answers: put '@Otherwise(value)' or '@Otherwise(throw: error)' in front of it"
  case nothingToCombine = "'@Otherwise' has no two answers to combine for '%': remove 'combine'"
  case throwsNothing =
    "'@Otherwise(throw:)' cannot throw from '%': add 'throws', or write '@Otherwise(value)'"
  case placeholder =
    "'@Otherwise' has no value yet: write what '%' returns if no target answers"
  case answerToNothing =
    "'@Otherwise' cannot answer for '%', which returns nothing: remove '@Otherwise', or add a result"
  case answerOfOtherType = "'@Otherwise' cannot answer for '%' with '%': write a value of '%'"
  case answerOfAnyType =
    "'@Otherwise' cannot make a value of any type '%' for '%': make the result optional, or add 'throws'"
  case optionalStatic =
    "'@Optional' cannot let a target leave out '%', which is static: remove '@Optional'"
  case foreignOptional =
    "'@Optional' cannot let a target leave out '%' of another module: remove '@Optional'"
  case optionalWord =
    "'@Forwardable' does not read 'optional' of '%', which is for '@objc' protocols: write '@Optional'"
  case twice = "'@%' is there twice for '%': remove one"
  case misplaced =
    "'@%' does nothing here: put it on a requirement of a protocol with '@Forwardable'"

  // Properties of delegates.
  case noProperty =
    "'@Delegates' makes a stored property: put it on a 'var' of a class, an actor or a structure"
  case delegatesWord = "'@Delegates' makes '%' a computed property: remove '%'"
  case delegatesValue = "'@Delegates' makes the value of '%': remove this one, and use '$%.add'"
  case delegatesAccessors = "'@Delegates' makes the getter of '%': remove these accessors"
  case delegatesType =
    "'@Delegates' needs one protocol for '%', and no optional: write its type as 'any ChatDelegate'"

  // Libraries of C.
  case notAStructure = "'@CLibrary' is for structures: put it on a 'struct' of C functions"
  case genericLibrary = "'@CLibrary' cannot load the generic '%': remove the type parameters"
  case isolatedLibrary =
    "'@CLibrary' loads '%' for any thread: write 'nonisolated' in place of the actor"
  case privateLibrary =
    "'@CLibrary' cannot reach '%' inside of another type: write 'fileprivate' in place of 'private'"
  case conditionalSymbol =
    "'@CLibrary' cannot see functions inside of '#if': mark those with '@Optional' that may be missing"
  case libraryInitializer =
    "'@CLibrary' uses the memberwise initializer of '%': write this one in an extension"
  case nameOfC = "'@%' takes one plain string, as '\"%\"'"
  case untypedSymbol =
    "'@CLibrary' needs the type of '%': write '@convention(c)' and the function's type"
  case noCFunction =
    "'@CLibrary' cannot load '%', which is no C function: write '@convention(c)', or give it a value"
  case optionalSymbol =
    "'@CLibrary' needs both '@Optional' and '?' for '%', which may be missing, or neither"
  case misplacedSymbol =
    "'@%' does nothing here: put it on a function without a value of a structure with '@CLibrary'"

  /// The error at a node, with these names.
  func error(_ names: [String] = [], at node: some SyntaxProtocol) -> Diagnostic {
    let texts = rawValue.split(separator: "%", omittingEmptySubsequences: false)
    let sentence = zip([""] + names, texts).map { $0 + $1 }.joined()
    return Diagnostic(node: node, message: MacroExpansionErrorMessage(sentence))
  }
}
