// SPDX-License-Identifier: Apache-2.0
// RedDotManager with a protocol in place of a selector: lanes take observers that are `Sendable`,
// which the compiler checks.
import Dispatch
import Forwarding

#if Macros
  @Forwardable
  protocol RedDotObserver: AnyObject, Sendable {
    func redDot(_ name: String, changedTo count: Int)
  }

  final class RedDotManager: Sendable {
    let observers = Multicast<RedDotObserverProxy>()

    /// Notifies the observers, and waits until they have run on their queues.
    func set(_ name: String, _ count: Int) throws {
      let report = try observers.messages.redDotChangedTo.report(name, count)
      for entry in report.entries { _ = entry.ticket?.wait() }
    }
  }

  final class Badge: RedDotObserver {
    let screen: String
    init(_ screen: String) { self.screen = screen }
    func redDot(_ name: String, changedTo count: Int) { print("\(screen): \(name) \(count)") }
  }

  let manager = RedDotManager()
  let interface = DispatchQueue(label: "interface")
  let inbox = Badge("inbox")
  var profile: Badge? = Badge("profile")

  manager.observers.add(inbox, on: .queue(interface))
  manager.observers.add(inbox, on: .queue(interface))  // a duplicate, ignored
  manager.observers.add(profile!, on: .queue(interface))
  print(manager.observers.count)  // 2

  try manager.set("mail", 3)  // inbox: mail 3, profile: mail 3
  profile = nil
  try manager.set("mail", 0)  // inbox: mail 0
  print(manager.observers.untyped.registrationCount)  // 1: the dead one was removed
#endif
