import Dispatch
import Forwarding

@Forwardable
protocol ChatDelegate: AnyObject {
  func chat(didReceive text: String)
  @Optional func chatDidClose()
  @Otherwise(true) func chat(shouldSend text: String) -> Bool
}

final class Session {
  weak var delegate: (any ChatDelegate)?
  func receive(_ text: String) { delegate?.chat(didReceive: text) }
  func send(_ text: String) -> Bool { delegate?.chat(shouldSend: text) ?? true }
}

/// Receives on a queue, so it must be `Sendable`.
final class Log: ChatDelegate, Sendable {
  func chat(didReceive text: String) { print("log:", text) }
  func chat(shouldSend text: String) -> Bool { true }
}

let session = Session()
let delegates = Multicast<ChatDelegateProxy>()
session.delegate = delegates.proxy

let queue = DispatchQueue(label: "log")
let log = Log()
delegates.add(log, on: .queue(queue))

session.receive("hello")
queue.sync {}  // log: hello
