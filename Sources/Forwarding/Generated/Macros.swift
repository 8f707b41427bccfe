// SPDX-License-Identifier: Apache-2.0
#if Macros || MacrosFromSource
  /// Writes a proxy for a protocol: a class `<Name>Proxy` that conforms to it, and sends each
  /// requirement to a proxy.
  ///
  /// ```
  /// @Forwardable
  /// protocol ChatDelegate: AnyObject {
  ///   func chat(_ chat: Chat, didReceive text: String)
  ///   @Otherwise(true) func chat(_ chat: Chat, shouldSend text: String) -> Bool
  /// }
  ///
  /// let delegates = Multicast<ChatDelegateProxy>()
  /// delegates.add(screen)
  /// delegates.proxy.chat(chat, didReceive: "hello")
  /// ```
  ///
  /// A class that conforms to the protocol is a target without further code.
  @attached(peer, names: suffixed(Proxy))
  @attached(extension, names: arbitrary)
  public macro Forwardable() =
    #externalMacro(module: "ForwardingMacros", type: "ForwardableMacro")

  /// Writes a proxy for a protocol of another module, where the attribute cannot be added. A
  /// protocol that nothing else uses restates the requirements.
  ///
  /// ```
  /// @Forwardable(as: (any XMLParserDelegate).self)
  /// protocol XMLParserDelegateList {
  ///   func parserDidStartDocument(_ parser: XMLParser)
  /// }
  ///
  /// let everyone = Multicast<XMLParserDelegateListProxy>()  // its proxy is an XMLParserDelegate
  /// ```
  ///
  /// Requirements with a default implementation in the other module may be omitted: the proxy uses
  /// that implementation, like any other class.
  @attached(peer, names: suffixed(Proxy))
  @attached(extension, names: arbitrary)
  public macro Forwardable<Foreign>(as foreign: Foreign.Type) =
    #externalMacro(module: "ForwardingMacros", type: "ForwardableMacro")

  /// Makes a property the object of its protocol, which is ``Forwardable()``, with any number of delegates behind
  /// it: `$delegate` is their ``Multicast``.
  ///
  /// ```
  /// final class Session {
  ///   @Delegates var delegate: any ChatDelegate
  /// }
  ///
  /// session.$delegate.add(window)
  /// session.delegate.chat(chat, didReceive: "hello")
  /// ```
  @attached(accessor)
  @attached(peer, names: prefixed(`$`))
  public macro Delegates() =
    #externalMacro(module: "ForwardingMacros", type: "DelegatesMacro")

  /// ``Forwardable()`` puts this attribute on a proxy, so that the optimizer takes the proxy into
  /// account. It is not for other uses.
  @_documentation(visibility: internal)
  @attached(extension, names: named(__InView))
  public macro _ProxyInView() =
    #externalMacro(module: "ForwardingMacros", type: "ProxyInViewMacro")

  /// Makes a structure of C functions load itself from a library. Its memberwise initializer stays, for
  /// doubles in tests.
  ///
  /// ```
  /// @CLibrary("libsqlite3.so.0")
  /// struct SQLite {
  ///   let sqlite3_libversion_number: @convention(c) () -> Int32
  ///   @Symbol("sqlite3_threadsafe") let isThreadSafe: @convention(c) () -> Int32
  ///   @Optional let sqlite3_new_thing: (@convention(c) () -> Int32)?
  /// }
  ///
  /// let sqlite = try unsafe SQLite.load()    // opens the library now, and finds all functions
  /// let shared = try unsafe SQLite.shared    // the same, once in the program, at the first use
  /// sqlite.sqlite3_libversion_number()
  /// let double = SQLite(
  ///   sqlite3_libversion_number: { 3 }, isThreadSafe: { 1 }, sqlite3_new_thing: nil)
  /// ```
  ///
  /// If functions are missing, one error has all of their names. The library stays open for the life
  /// of the program. An empty string is the program itself. A structure whose functions take unsafe pointers
  /// needs `@safe` or `@unsafe` where strict memory safety is on, like any other.
  @attached(extension, conformances: Sendable, names: named(load), named(shared), named(__members))
  public macro CLibrary(_ path: String) =
    #externalMacro(module: "ForwardingMacros", type: "CLibraryMacro")

  /// The name that a function of a ``CLibrary(_:)`` has in the library, if it is not the member's.
  @attached(peer)
  public macro Symbol(_ name: String) =
    #externalMacro(module: "ForwardingMacros", type: "MarkerMacro")

  /// Marks a requirement of a ``Forwardable()`` protocol that a class need not implement. A class
  /// that does not implement it has no method for its message.
  ///
  /// In a ``CLibrary(_:)``, it marks a function that is nil if the library does not have it.
  @attached(peer)
  public macro Optional() =
    #externalMacro(module: "ForwardingMacros", type: "MarkerMacro")

  /// The value that a requirement of a ``Forwardable()`` protocol returns when no target answers.
  /// The value names its type, which a macro cannot see: `Mood.calm`, `[] as [String]`.
  @attached(peer)
  public macro Otherwise<Value>(_ value: @autoclosure () -> Value) =
    #externalMacro(module: "ForwardingMacros", type: "MarkerMacro")

  /// The same, with how two answers become one: without it, the last one wins.
  ///
  /// ```
  /// @Otherwise(true, combine: { $0 && $1 }) func chat(_ chat: Chat, shouldSend text: String) -> Bool
  /// ```
  @attached(peer)
  public macro Otherwise<Value>(
    _ value: @autoclosure () -> Value, combine: (Value, Value) -> Value
  ) = #externalMacro(module: "ForwardingMacros", type: "MarkerMacro")

  /// The error that the sender gets instead, from a requirement that may throw it: it fails closed. Without a result, a
  /// target on a queue does not count as one that answers.
  ///
  /// ```
  /// @Otherwise(throw: Refusal.closed) func admit(_ guest: Guest) throws(Refusal) -> Ticket
  /// @Otherwise(throw: Refusal.closed) func authorize() throws
  /// ```
  @attached(peer)
  public macro Otherwise<Failure: Error>(throw error: @autoclosure () -> Failure) =
    #externalMacro(module: "ForwardingMacros", type: "MarkerMacro")

  /// The same for a value that is `nil`, which names no type.
  @attached(peer)
  public macro Otherwise(_ nothing: Never?) =
    #externalMacro(module: "ForwardingMacros", type: "MarkerMacro")
#else
  /// Stands in for the macro of this name, and says which trait enables it.
  @available(
    *, unavailable,
    message: "it needs the trait Macros, which `traits: []` left out"
  )
  @globalActor
  public actor Forwardable {
    public static let shared = Forwardable()
  }

  /// Stands in for the macro of this name, at a requirement.
  @available(
    *, unavailable,
    message: "it needs the trait Macros, which `traits: []` left out"
  )
  @resultBuilder
  public enum Otherwise {
    public static func buildBlock() {}
  }

  /// Stands in for the macro of this name, at a property.
  @available(
    *, unavailable,
    message: "it needs the trait Macros, which `traits: []` left out"
  )
  @propertyWrapper
  public struct Delegates<Object> {
    public init() {}
    public var wrappedValue: Object { fatalError("there is no macro") }
  }

  /// Stands in for the macro of this name, at a structure.
  @available(
    *, unavailable,
    message: "it needs the trait Macros, which `traits: []` left out"
  )
  @globalActor
  public actor CLibrary {
    public static let shared = CLibrary()
  }
#endif
