// SPDX-License-Identifier: Apache-2.0
// The parts of a proxy that depend on what its protocol inherits: the places of its bases in the
// tables of a target, and the box of a value.
extension Proxy {
  /// The functions that map an inherited protocol to its index in the tables of a target.
  var places: String {
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
  var box: String {
    if isOfObjects { return "" }
    // A value that no requirement mutates is read without a lock.
    let isChanged =
      !bases.isEmpty || parts.flatMap(\.members).flatMap(\.calls).contains(where: \.isMutating)
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
