#if Macros || MacrosFromSource
  /// Makes a face for a protocol: a class `<Name>Proxy` that conforms to it, and sends each requirement to
  /// a proxy.
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
  /// delegates.face.chat(chat, didReceive: "hello")
  /// ```
  ///
  /// A class that conforms to the protocol needs nothing more to be a target.
  @attached(peer, names: suffixed(Proxy))
  @attached(extension, names: arbitrary)
  public macro Forwardable() =
    #externalMacro(module: "ForwardingMacros", type: "ForwardableMacro")

  /// Makes a face for a protocol of another module, which cannot be annotated there: its requirements are written down
  /// once more, in a protocol that nothing else uses.
  ///
  /// ```
  /// @Forwardable(as: (any XMLParserDelegate).self)
  /// protocol XMLParserDelegateList {
  ///   func parserDidStartDocument(_ parser: XMLParser)
  /// }
  ///
  /// let everyone = Multicast<XMLParserDelegateListProxy>()  // its face is an XMLParserDelegate
  /// ```
  ///
  /// What the module has a default for may be left out: the face answers that as any class does.
  @attached(peer, names: suffixed(Proxy))
  @attached(extension, names: arbitrary)
  public macro Forwardable<Foreign>(as foreign: Foreign.Type) =
    #externalMacro(module: "ForwardingMacros", type: "ForwardableMacro")

  /// What ``Forwardable()`` writes in front of a face, so that the optimizer knows of it. Nobody else needs this.
  @attached(extension, names: named(__InView))
  public macro FaceInView() =
    #externalMacro(module: "ForwardingMacros", type: "FaceInViewMacro")

  /// A requirement of a ``Forwardable()`` protocol that a class need not implement. One that does not, has no
  /// method for its message.
  @attached(peer)
  public macro Optional() =
    #externalMacro(module: "ForwardingMacros", type: "MarkerMacro")

  /// What the sender gets from a requirement of a ``Forwardable()`` protocol when nobody answers. The value
  /// names its type, which no macro is told: `Mood.calm`, `[] as [String]`.
  @attached(peer)
  public macro Otherwise<Value>(_ value: @autoclosure () -> Value) =
    #externalMacro(module: "ForwardingMacros", type: "MarkerMacro")

  /// The same for a value that is `nil`, which names no type.
  @attached(peer)
  public macro Otherwise(_ nothing: Never?) =
    #externalMacro(module: "ForwardingMacros", type: "MarkerMacro")
#else
  /// Says how to ask for the macro of this name.
  @available(
    *, unavailable,
    message: "it needs a trait of the package: .package(…, traits: [\"Macros\"])"
  )
  @globalActor
  public actor Forwardable {
    public static let shared = Forwardable()
  }

  /// Says the same where it stands.
  @available(
    *, unavailable,
    message: "it needs a trait of the package: .package(…, traits: [\"Macros\"])"
  )
  @resultBuilder
  public enum Otherwise {
    public static func buildBlock() {}
  }
#endif
