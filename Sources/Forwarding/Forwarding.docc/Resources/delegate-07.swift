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

final class Archive: ChatDelegate {
  var lines: [String] = []
  func chat(didReceive text: String) { lines.append(text) }
  func chat(shouldSend text: String) -> Bool { text.count < 80 }
}

let session = Session()
let delegates = Multicast<ChatDelegateProxy>()
session.delegate = delegates.proxy

let archive = Archive()
do {
  let window = Window()
  delegates.add(window)
  delegates.add(archive)
  session.receive("hello")  // window: hello
}
session.receive("is the window gone?")
print(archive.lines.count)  // 2
