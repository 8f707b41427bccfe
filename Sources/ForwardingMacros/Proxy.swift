// SPDX-License-Identifier: Apache-2.0
/// The class that `@Forwardable` writes for a protocol.
struct Proxy {
  /// The protocol that the proxy conforms to, as source.
  var name: String
  /// The name of the class.
  var className: String
  /// The type parameters of the class with their bounds, one for each associated type.
  var parameters: [(name: String, bound: String)] = []
  /// The `where` clause of the type parameters, with a leading space, or an empty string.
  var whereClause = ""
  /// The access modifier with a trailing space, such as `public `.
  var access = ""
  /// Whether the extension around the protocol has the modifier, so that the class has it, too.
  var isAccessAround = false
  /// The attributes of the class, including its global actor.
  var attributes = ""
  /// The global actor as an attribute, such as `@MainActor`.
  var actor: String?
  /// What the protocol inherits of the standard library and Foundation, by names without modules.
  var marks: Set<String> = []
  /// The modifier in front of declarations that belong to no actor.
  var nonisolated = ""
  /// Whether the proxy is for a protocol of another module, which this declaration restates.
  var isForeign = false
  /// Whether another type is around the protocol.
  var isNested = false
  /// The inherited protocols. Each has a proxy of its own.
  var bases: [String] = []
  var parts: [ProxyMember] = []
  /// Whether a requirement is deprecated.
  var hasDeprecated = false

  /// Whether the targets are actors. The proxy is then an actor too.
  var isOfActors: Bool { marks.contains("Actor") }
  /// Whether the protocol is class-bound.
  var isOfObjects: Bool {
    !marks.isDisjoint(with: ["AnyObject", "class", "Actor", "NSObjectProtocol"])
  }
  var isSendable: Bool { !marks.isDisjoint(with: ["Sendable", "Error", "LocalizedError"]) }

  var forwarding: String { Spelling.forwarding }
  var swift: String { Spelling.swift }

  /// The class, as code outside the class names it.
  var type: String { className + arguments }
  private var arguments: String {
    parameters.isEmpty ? "" : "<\(parameters.map(\.name).joined(separator: ", "))>"
  }
  /// The existential type of any target.
  var target: String {
    // What the restatement says of objects need not hold for the foreign protocol.
    "any \(name)\(arguments)\(isForeign && isOfObjects ? " & \(swift)AnyObject" : "")"
  }
  /// The existential type of a target that is an object.
  var objectTarget: String { isOfObjects ? target : "\(target) & \(swift)AnyObject" }

  /// The type aliases for the proxies of the inherited protocols.
  var baseProxies: [String] { bases.indices.map { "__Base\($0)" } }
  /// The declarations of these type aliases. A base without a proxy, or without its types, leads to a compiler
  /// error here alone, and the error shows the comment on the line. An alias of `ListenerProxy` itself would be
  /// legal, and each of its uses an error.
  private var baseTypes: String {
    bases.enumerated().map { number, base in
      let name = base.prefix { $0 != "<" }
      return """
          \(access)typealias __Base\(number) = [\(base.proxyName)].Element  // if it is not found: put '@Forwardable' on '\(name)'; if it is a class: no proxy is one of its subclasses; if it requires arguments: inherit '\(name)' with its types, as '\(name)<Int>'

        """
    }.joined()
  }

  /// A comment on lines at which the compiler reports what the macro cannot see of an inherited
  /// protocol: that it belongs to an actor.
  var actorHint: String {
    if bases.isEmpty || actor != nil || isOfActors { return "" }
    return
      "  // if it is of actors: inherit 'Actor', too; if it crosses into an actor: write the actor, as '@MainActor', on '\(name)', too"
  }

  // MARK: The extensions

  /// The extensions of the protocol: the default implementations of optional requirements, the
  /// members of its proxy and of those of inheriting protocols, and those of the boxes of inheriting
  /// protocols.
  ///
  /// The proxy takes its members from the extension. The optimizer makes a copy for it, in which the
  /// place of the protocol is a constant.
  func extensions(of type: String) -> [String] {
    if isForeign { return [] }
    let boxed = isOfObjects || isOfActors ? "" : parts.text(\.boxed)
    return [
      ("", parts.text(\.leftOut)),
      (" where Self: \(forwarding)_ProxySender", parts.text(\.member)),
      (" where Self: \(forwarding)_ProxyBox", boxed),
    ].filter { !$0.1.isEmpty }.map { condition, members in
      "\(nonisolated)extension \(type)\(condition) {\n\(members)\n}"
    }
  }

  // MARK: The class

  var source: String {
    let conformances = isSendable && !isOfActors ? ", @unchecked \(swift)Sendable" : ""
    let keyword = isOfActors ? "actor" : "final class"
    // Only the protocol's actor uses the proxy of an isolated protocol.
    let isolation = actor.map { $0 + " " } ?? ""
    let bounds = parameters.map { $0.bound.isEmpty ? $0.name : "\($0.name): \($0.bound)" }
    let clause = bounds.isEmpty ? "" : "<\(bounds.joined(separator: ", "))>"
    // If other modules may have classes of the protocol, the optimizer never takes one for the only one.
    let isInView = ["public ", "package "].contains(access) || isForeign
    let inView = isInView ? "" : "@\(forwarding)_ProxyInView "
    return """
      \(attributes)\(inView)\(isAccessAround ? "" : access)\(keyword) \(className)\(clause): \(name), \(isOfActors ? "" : "nonisolated ")\(forwarding)_ProxySender, \(isolation)\(forwarding)GeneratedProxy\(conformances)\(whereClause) {\(actorHint)
      \(baseTypes)\(types)

      \(constants)

      \(messages)

        nonisolated \(access)let __forwarder: \(forwarding)_ProxyForwarder

        \(access)init(forwardingTo proxy: any \(forwarding)ForwardingProxy & \(swift)Sendable) {
          __forwarder = \(forwarding)_ProxyForwarder(proxy, for: \(type).self)
        }

        \(access)static func __target(_ target: \(target) & \(swift)Sendable) -> \(target) { target }

      \(preparation)

      \(places)\([members, box].filter { !$0.isEmpty }.joined(separator: "\n\n"))
      }
      """
  }

  /// The members that the proxy does not take from the extension of the protocol. A foreign protocol has
  /// none, and no copy is made for a proxy with type parameters: the place costs 90 ns there.
  private var members: String {
    if !isForeign, parameters.isEmpty { return "" }
    return parts.text { $0.member.replacing(place, with: "0") }
  }

  /// The index of the protocol among those of a proxy, as source.
  var place: String { "Self.__place(of: \(type).self)" }

  private var types: String {
    let (own, aliases) = parts.values
    let values = (baseProxies.map { "\($0).__Values" } + own).joined(separator: ", ")
    let lines = [
      "typealias __Target = \(target)",
      "typealias __SendableTarget = \(target) & \(swift)Sendable",
      "typealias __Values = (\(values))",
    ]
    let beside = isNested ? actor.map { ["typealias __Actor = \($0.dropFirst())"] } ?? [] : []
    let conditional = aliases.map { $0.replacing("typealias", with: "\(access)typealias") }
    return ((lines + beside).map { "  \(access)\($0)" } + conditional).joined(separator: "\n")
  }

  private var constants: String {
    parts.text { member in
      let lines = member.calls.map { message in
        "  nonisolated fileprivate static "
          + (parameters.isEmpty
            ? "let \(message.name) = \(message.value)"
            : "var \(message.name): \(message.type) { \(message.value) }")
      }
      let values = member.calls.compactMap { $0.declaration(access) }
      return (lines + values + member.beside).joined(separator: "\n")
    }
  }

  private var messages: String {
    let names = parts.text { member in
      member.calls.filter { $0.isNoMessage == nil }.map {
        "\($0.isSetter ? "" : $0.requirement.comment)    \(access)var \($0.publicName): \($0.type) { \(type).\($0.name) }"
      }.joined(separator: "\n\n")
    }
    // Two bases may inherit one message. It is the same.
    let inherited = baseProxies.enumerated().map { number, base in
      "    \(number > 0 ? "@_disfavoredOverload " : "")\(access)subscript<__Message>(dynamicMember name: \(swift)KeyPath<\(base).__Messages, __Message>) "
        + "-> __Message { \(base).__Messages()[keyPath: name] }"
    }
    return """
        \(bases.isEmpty ? "" : "@dynamicMemberLookup ")\(access)nonisolated struct __Messages: \(forwarding)_ProxyMessages {
          \(access)init() {}

      \(([names] + inherited).joined(separator: "\n"))
        }
      """
  }

  /// The functions that register a target's class for the messages of the protocol. They may call
  /// deprecated requirements without a warning if they are deprecated themselves.
  ///
  /// The answers are statements of a function, which the compiler checks one by one. It checks
  /// those of a closure together, in quadratic time.
  private var preparation: String {
    let bases = baseProxies.map { "    \($0).__prepare(__target)\n" }.joined()
    let proxies =
      baseProxies.isEmpty
      ? "" : ", bases: [\(baseProxies.map { "\($0).self" }.joined(separator: ", "))]"
    let bound = isOfObjects && !isForeign ? name : "\(name) & \(swift)AnyObject"
    let answers = parts.text { member in
      member.calls.filter { $0.isNoMessage == nil }.map(\.registered).joined(separator: "\n")
    }
    let same = parameters.map { "__Object.\($0.name) == \($0.name)" }.joined(separator: ", ")
    let opened = """
          func __prepare<__Object: \(bound)>(_ __target: __Object)\(same.isEmpty ? "" : " where \(same)") {
            func __answer(_ __methods: \(forwarding)_ProxyMethods<__Object>) {
      \(answers)
            }
      \(bases)      \(forwarding)_ProxyMethods<__Object>.prepare(for: \(type).self, __target as \(objectTarget)\(proxies)) { __answer($0) }
          }
      """
    let objects =
      isOfObjects
      ? """
          __prepare(__target)
          return __target
      """
      : """
          let __object: \(objectTarget) = \(forwarding)_ProxyMessage.object(__target, as: (\(objectTarget)).self) { __Box($0) }
          __prepare(__object)
          return __object
      """
    return """
      \(isOfObjects ? "  \(access)static func __object(of target: \(target)) -> (\(swift)AnyObject)? { target }\n\n" : "")  \(hasDeprecated ? "@available(*, deprecated) " : "")@discardableResult \(access)static func __prepare(_ __target: \(target)) -> \(swift)AnyObject {
      \(opened)
      \(objects)
        }
      """
  }

  // MARK: What depends on the inherited protocols

  /// The functions that map an inherited protocol to its index in the tables of a target.
  private var places: String {
    if bases.isEmpty { return "" }
    var offset = "1"
    var cases = ""
    for (number, base) in baseProxies.enumerated() {
      cases += """
            let __place\(number) = \(base).__place(of: proxy)
            if __place\(number) < \(base).__places { return \(offset) + __place\(number) }

        """
      offset += " + \(base).__places"
    }
    return """
        \(access)nonisolated static func __place(of proxy: \(swift)AnyClass) -> \(swift)Int {
          if proxy == \(type).self { return 0 }
      \(cases)    return \(offset)
        }

        \(access)nonisolated static var __places: \(swift)Int { \(offset) }


      """
  }

  /// The class that stands in for a value among the targets: it holds the value, and calls it.
  private var box: String {
    if isOfObjects { return "" }
    // A value that no requirement mutates is read without a lock.
    let isChanged = !bases.isEmpty || parts.flatMap(\.calls).contains(where: \.isMutating)
    let isolation = isSendable ? "nonisolated " : actor.map { $0 + " " } ?? ""
    let sendable = isSendable ? ", @unchecked \(swift)Sendable" : ""
    return """
        \(attributes)\(nonisolated)fileprivate final class __Box: \(name), \(isolation)\(forwarding)_ProxyBox\(sendable) {\(actorHint)
          \(isSendable ? "nonisolated " : "")let __value: \(forwarding)_BoxedValue<\(target)>
          init(_ value: \(target)) {
            __value = \(forwarding)_BoxedValue(value, isChanged: \(isChanged))
          }
      \(isForeign ? parts.text(\.boxed) : "")
        }

        \(access)static func __isBox(_ object: \(swift)AnyObject) -> \(swift)Bool { object is __Box }

        \(access)static func __target(behind object: \(swift)AnyObject) -> (\(target))? {
          if let box = object as? __Box { return box.__value.current }
          return object as? \(target)
        }
      """
  }
}
