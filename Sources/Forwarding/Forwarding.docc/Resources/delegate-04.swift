import Forwarding

@Forwardable
protocol ChatDelegate: AnyObject {
  func chat(didReceive text: String)
  @Otherwise(true) func chat(shouldSend text: String) -> Bool
}

final class Session {
  weak var delegate: (any ChatDelegate)?
  func receive(_ text: String) { delegate?.chat(didReceive: text) }
  func send(_ text: String) -> Bool { delegate?.chat(shouldSend: text) ?? true }
}

final class Window: ChatDelegate {
  func chat(didReceive text: String) { print("window:", text) }
  func chat(shouldSend text: String) -> Bool { !text.isEmpty }
}

let session = Session()
let delegates = Multicast<ChatDelegateProxy>()
session.delegate = delegates.proxy

print(session.send("hello"))  // true
