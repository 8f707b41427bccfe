// SPDX-License-Identifier: Apache-2.0
// A manager of red dots whose delegates register with a queue. Duplicates are ignored, and
// deallocated delegates are removed automatically.
import Dispatch
import Forwarding
import Invocations

final class RedDotManager: Sendable {
  static let changed = try! Message<NoResult, String, Int32>("redDot:changedTo:")
  let observers = MulticastProxy()

  func set(_ name: String, _ count: Int32) throws -> DeliveryReport<Invocation> {
    try observers.deliver(Self.changed.invocation(name, count))
  }
}

final class Badge: MethodDeclaring, Sendable {
  let screen: String
  init(_ screen: String) { self.screen = screen }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("redDot:changedTo:") { (badge: Badge, name: String, count: Int32) in
      print("\(badge.screen): \(name) \(count)")
    }
  }
}

let manager = RedDotManager()
let interface = DispatchQueue(label: "interface")
let inbox = Badge("inbox")
var profile: Badge? = Badge("profile")

manager.observers.add(inbox, on: .queue(interface))
manager.observers.add(inbox, on: .queue(interface))  // a duplicate, ignored
manager.observers.add(profile!, on: .queue(interface))
print(manager.observers.count)  // 2

let first = try manager.set("mail", 3)
for entry in first.entries { _ = entry.ticket?.wait() }  // inbox: mail 3, profile: mail 3

profile = nil
let second = try manager.set("mail", 0)
for entry in second.entries { _ = entry.ticket?.wait() }  // inbox: mail 0
print(manager.observers.registrationCount)  // 1: the dead one was removed
