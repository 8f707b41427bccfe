protocol ChatDelegate: AnyObject {
  func chat(didReceive text: String)
  func chat(shouldSend text: String) -> Bool
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
let window = Window()
session.delegate = window
session.receive("hello")  // window: hello
