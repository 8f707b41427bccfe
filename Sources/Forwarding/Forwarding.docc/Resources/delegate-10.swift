import Forwarding

@Forwardable
protocol ChatDelegate: AnyObject {
  func chat(didReceive text: String)
  func chat(upload bytes: [UInt8]) async throws -> Int
  @Optional func chatDidClose()
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
  func chat(upload bytes: [UInt8]) async throws -> Int { bytes.count }
}

struct DiskFull: Error {}

final class Archive: ChatDelegate {
  var lines: [String] = []
  func chat(didReceive text: String) { lines.append(text) }
  func chat(shouldSend text: String) -> Bool { text.count < 80 }
  func chat(upload bytes: [UInt8]) async throws -> Int { throw DiskFull() }
  func chatDidClose() { print("archive:", lines.count) }
}

let session = Session()
let delegates = Multicast<ChatDelegateProxy>()
session.delegate = delegates.proxy

let window = Window()
let archive = Archive()
delegates.add(window)
print(try await delegates.proxy.chat(upload: [1, 2]))  // 2

delegates.add(archive)
do {
  print(try await delegates.proxy.chat(upload: [1, 2]))
} catch {
  print(error)  // DiskFull(): the window has uploaded the bytes, too
}
