// SPDX-License-Identifier: Apache-2.0
public import TypeEncodings

import Glibc

/// The reason why a call was refused, or a value could not be set or read.
///
/// ```swift
/// let call = try Invocation(parsing: "vi")
/// try call.setArgument(2.5, at: 0)       // throws: argument 0 is Int32 (i), not Double (d)
/// try call.setArgument(Int32(2), at: 1)  // throws: argument 1 was asked for, but the arguments are 0 to 0
/// ```
///
/// A refused call has not begun. Results are checked when they are read.
@nonexhaustive
public enum InvocationError: Error, Hashable, Sendable {
  /// An encoding could not be parsed or laid out.
  case encoding(TypeEncodingError)
  /// There is no argument with this index.
  case indexOutOfBounds(index: Int, count: Int)
  /// A Swift value does not fit the type of the argument, or of the result if there is no index.
  case typeMismatch(index: Int?, expected: TypeEncoding, given: SwiftType)
  /// Values of a Swift type fit no place of any call.
  case unfitType(SwiftType)
  /// A number cannot be represented exactly in the type of the argument or result.
  case notExact(value: String, type: TypeEncoding)
  /// The number of raw bytes is not the size of the type.
  case wrongSize(expected: Int, given: Int)
  /// The text for a `*` contains a NUL, which would cut it.
  case embeddedNUL(offset: Int)
  /// A C string is NULL or not UTF-8 where text was requested; without an index, the result is.
  case notText(index: Int?)
  /// A pointer is NULL where a non-optional pointer was requested; without an index, the result is.
  case nullPointer(index: Int?)
  /// No value was set where a Swift value was requested; without an index, the result is missing.
  case missingValue(index: Int?)
  /// The object is nil, or not of the requested class.
  case wrongClass(expected: SwiftType, given: SwiftType?)
  /// A carrier stands for no value of the Swift type.
  case foreignValue(type: SwiftType, given: String)
  /// No call has completed since the invocation was made or last failed, or the result is `v`.
  case resultNotAvailable
  /// The invocation has no selector yet.
  case selectorNotSet
  /// The signature is that of a plain function or block, which no target answers.
  case notAMethod(MethodSignature)
  /// The target's class has no method for the selector.
  case unrecognizedSelector(Selector, type: SwiftType?, nearest: String?)
  /// A message came back to an object that is already forwarding it.
  case forwardingCycle(Selector, type: SwiftType)
  /// Too many forwarding steps are nested.
  case forwardedTooDeeply(Selector, limit: Int)
  /// A call is using the argument, which is an object or a C string; 0 is the target of a method.
  case argumentInUse(index: Int)
  /// The selector or function is registered with other types.
  case signatureMismatch(name: String, expected: MethodSignature, given: MethodSignature)
  /// The selector or function is registered with another Swift type for an argument, or for the
  /// result if there is no index; nil stands for a C type. Their encodings are equal.
  case swiftTypeMismatch(name: String, index: Int?, expected: SwiftType?, given: SwiftType?)
  /// A method was registered for a class of proxies, which pass every message on.
  case passesOn(Selector, type: SwiftType)
  /// The function pointer is NULL.
  case nullFunction
  /// The number of arguments is wrong.
  case argumentCount(expected: Int, given: Int)
  /// The values together are larger than a call may carry.
  case tooLarge(MethodSignature)
  /// A value cannot be passed by value on this platform; 0 is the result, 1 the first argument.
  case unsupportedValue(index: Int, signature: MethodSignature)
  /// Memory allocation failed.
  case outOfMemory
  /// The call copies more than the rest of the thread's stack can hold, or nested forwarding has
  /// left too little stack.
  case notEnoughStack(needed: Int, left: Int)
  /// The system has no code for another callback. After `EMFILE` and `ENFILE`, too many open files, a
  /// later attempt may work; `ENOTSUP` means that neither the program's own file nor libffi has code here.
  case callbackRefused(errno: Int32)
  /// A function with this name, or a method with this selector, is already registered.
  case duplicateName(String)
  /// A function cannot be registered, or called with these types, for this reason.
  indirect case unfitFunction(name: String, reason: InvocationError)
  /// A variable of this type was used after its loan ended, on another thread, or while it was
  /// being changed.
  case variableNotLent(SwiftType)
  /// A method is registered with a class, but takes objects of a class that is not a superclass.
  case wrongReceiver(Selector, type: SwiftType, takes: SwiftType)
  /// The method is `async`, and the sender does not await it.
  case notAwaited(Selector?)
  /// The class declares the method that was probably meant, but wrongly.
  indirect case wrongDeclaration(Selector, type: SwiftType, declared: DeclarationError)
  /// No function has this name.
  case unknownFunction(name: String, nearest: String?)
  /// The library could not be opened. The reason is the message of the loader.
  case libraryNotFound(path: String, reason: String)
  /// The library, which was loaded from this file, has no such symbols. There is no file if it is the
  /// program itself, or was opened by the file's path.
  case symbolNotFound(symbols: [String], library: String, file: String?)
  /// A callback cannot return a value that its caller would have to free.
  case ownedResultInCallback(TypeEncoding)
  /// The type of a Swift closure was given where a C function type is needed.
  case notACFunction(SwiftType)
  /// A selector's name contains a NUL or is longer than 1,024 bytes.
  case invalidSelector(String)
}

extension InvocationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .encoding(let error): "\(error)"
    case .indexOutOfBounds(let index, let count):
      "\(SignatureIndexError(index: index, count: count))"
    case .typeMismatch(let index, let expected, let given):
      "\(Self.place(index)) is \(expected.title), not \(Self.spelled(given))"
        + (index == nil ? Self.misfit(given, expected) : Self.why(given, expected))
    case .unfitType(let type):
      "C has no type for the values of \(type); make it a 'CallStructure', or pass a pointer"
    case .notExact(let value, let type): "\(value) cannot be represented exactly as \(type.title)"
    case .wrongSize(let expected, let given):
      "the value takes \(expected) bytes, but \(given) were given"
    case .embeddedNUL(let offset): "the text contains a NUL at byte \(offset), where C would end it"
    case .notText(let index):
      "\(Self.place(index)) is NULL or not UTF-8; use 'String?' for text that may be NULL, and a pointer for "
        + "other bytes"
    case .nullPointer(let index):
      "\(Self.place(index)) is NULL; make the type optional, as in 'UnsafeRawPointer?'"
    case .foreignValue(let type, let given): "\(given) is not a value of \(type)"
    case .missingValue(let index): "\(Self.place(index)) has no value yet; set it first"
    case .wrongClass(let expected, let given):
      "\(expected) was asked for, but the object is "
        + (given.map { "\($0)" } ?? "nil; use '\(expected)?' for one that may be missing")
    case .resultNotAvailable: "there is no result: no call has completed, or the result is void"
    case .selectorNotSet: "the invocation has no selector; set one before invoking"
    case .notAMethod(let signature):
      "\(signature) is the signature of a function, not of a method; use 'invoke(using:)', or write a method "
        + "with '@:' behind its result"
    case .unrecognizedSelector(let selector, let type, let nearest):
      "\(type.map { "\($0)" } ?? "the target") has no method '\(selector)'"
        + (nearest.map { "; did you mean '\($0)'?" } ?? "")
    case .forwardingCycle(let selector, let type):
      "'\(RequirementNames.name(of: selector))' came back to a \(type) that is already forwarding it; a proxy must not forward to itself"
    case .forwardedTooDeeply(let selector, let limit):
      "'\(RequirementNames.name(of: selector))' was forwarded from proxy to proxy more than \(limit) times"
    case .argumentInUse(let index):
      "argument \(index) cannot be set while a call uses it; set it after the call"
    case .signatureMismatch(let name, let expected, let given):
      "'\(name)' is registered as \(expected.title), but was called as \(given.title)"
    case .swiftTypeMismatch(let name, let index, let expected, let given):
      "\(Self.place(index)) of '\(name)' is registered as \(Self.spelledOrC(expected, beside: given)), but "
        + "was called as \(Self.spelledOrC(given, beside: expected))"
    case .nullFunction: "the function pointer is NULL"
    case .argumentCount(let expected, let given):
      "\(expected) \(expected == 1 ? "argument is" : "arguments are") expected, \(given) "
        + "\(given == 1 ? "was" : "were") given"
    case .tooLarge(let signature):
      "the values of \(signature) are too large to be passed; pass pointers to them"
    case .unsupportedValue(let index, let signature):
      "\(index == 0 ? "the result" : "argument \(index - 1)") of \(signature) cannot be passed "
        + "by value on this platform; pass a pointer to it"
    case .outOfMemory: "there is no memory left"
    case .notEnoughStack(let needed, let left):
      "the call needs \(needed) bytes of stack, but the thread has \(left) left; use a thread with a larger stack"
    case .callbackRefused(errno: ENOTSUP):
      "another callback cannot be made: the system does not allow new machine code"
    case .callbackRefused(let errno):
      "another callback cannot be made: \(unsafe String(cString: strerror(errno)))"
    case .duplicateName(let name):
      "'\(name)' is registered already; pass 'replacing: true' to replace it"
    case .unfitFunction(let name, let reason):
      "'\(name)': \(reason)"
    case .passesOn(let selector, let type):
      "'\(selector)' cannot be a method of \(type), which forwards every message; register it for the class of a target"
    case .variableNotLent(let type):
      "the 'inout' variable of type \(type) was used after its call, on another thread, or while it was being "
        + "changed"
    case .wrongReceiver(let selector, let name, let taken):
      "-[\(name) \(selector)] takes a receiver of class \(taken), but \(name) does not inherit from it"
    case .notAwaited(let selector):
      "\(selector.map { "'\(RequirementNames.name(of: $0))'" } ?? "the method") is async: await it, with an AsyncMessage"
    case .wrongDeclaration(let selector, let name, let declared):
      "-[\(name) \(selector)] is not there, because '\(declared.selector)' is declared wrongly: "
        + declared.reason
    case .unknownFunction(let name, let nearest):
      "no function is called '\(name)'" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
    case .libraryNotFound(let path, let reason): "'\(path)' could not be opened: \(reason)"
    case .symbolNotFound(let symbols, let library, let file):
      "'\(library)'\(file.map { " (\($0))" } ?? "") has no symbol\(symbols.count == 1 ? "" : "s") "
        + symbols.map { "'\($0)'" }.joined(separator: ", ")
    case .ownedResultInCallback(let type):
      "a callback cannot return \(type.title), because C would not free it; return a pointer you own"
    case .notACFunction(let type):
      "'\(type)' is not the type of a C function; write '@convention(c)' in front of it"
    case .invalidSelector(let name):
      "'\(name)' cannot be the name of a selector: it contains a NUL, or is longer than "
        + "\(Selector.maximumLength) bytes"
    }
  }
}

extension InvocationError {
  private static func place(_ index: Int?) -> String {
    index.map { "argument \($0)" } ?? "the result"
  }

  /// The name of a type, with its encoding if it has one.
  private static func spelled(_ type: SwiftType) -> String {
    if type.type == NoResult.self { return "Void (v)" }
    return (type.type as? any CallValue.Type).map { "\(type) (\($0.typeEncoding))" } ?? "\(type)"
  }

  /// The name of a type, with its module and context if another type has the same name. Private types
  /// of two files differ only in an address, which the full name has.
  private static func spelledOrC(_ type: SwiftType?, beside other: SwiftType?) -> String {
    guard let type else { return "a type of C" }
    let isAmbiguous = other?.description == type.description
    return "the Swift type " + (isAmbiguous ? _typeName(type.type) : "\(type)")
  }

  /// What to write for a literal, which is an `Int`; or the reason why a structure does not fit.
  private static func why(_ type: SwiftType, _ place: TypeEncoding) -> String {
    if case .scalar(let scalar) = place.kind, scalar != .bool, type.type == Int.self {
      return "; for a literal such as 5, write \(place.swiftName ?? "")(5)"
    }
    return misfit(type, place)
  }

  /// The reason why a structure does not fit a value of its own encoding.
  private static func misfit(_ type: SwiftType, _ place: TypeEncoding) -> String {
    guard let structure = (type.type as? any CallValue.Type)?.storedStructure,
      let misfit = CallPlan.misfit(structure, place)
    else { return "" }
    return switch misfit {
    case .otherEncoding: ""
    case .moreThanBytes: ": \(type) cannot be copied byte by byte, because it holds an object"
    case .size(let own, let there): ": \(type) takes \(own) bytes, but its encoding \(there)"
    case .alignment(let own, let there):
      ": \(type) is aligned to \(own) bytes, but its encoding to \(there)"
    }
  }

  /// Runs `body` and wraps its error in ``encoding(_:)``.
  static func wrapping<Value>(
    _ body: () throws(TypeEncodingError) -> Value
  ) throws(InvocationError) -> Value {
    do { return try body() } catch { throw .encoding(error) }
  }
}

/// A Swift type in an error or a report. Types are compared by identity and printed by name.
///
/// ```swift
/// SwiftType(Account.self)                         // Account
/// SwiftType(Int.self) == SwiftType(Int64.self)    // false
/// SwiftType(Int.self) == SwiftType(type(of: 42))  // true
/// ```
public struct SwiftType: Hashable, Sendable, CustomStringConvertible {
  private let identifier: ObjectIdentifier

  /// Wraps a type.
  public init(_ type: Any.Type) { identifier = ObjectIdentifier(type) }

  /// The type.
  public var type: Any.Type {
    // SAFETY: the identifier of a type is the address of its metadata, and so is a metatype.
    unsafe unsafeBitCast(identifier, to: Any.Type.self)
  }

  public var description: String { "\(type)" }
}
