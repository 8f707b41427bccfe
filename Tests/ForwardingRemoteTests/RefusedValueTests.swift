// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import RemoteTestSupport
import Testing

/// A value whose decoding and encoding throw errors of their own.
private struct Word: Codable, Equatable {
  struct Secret: Error { var password = "1234" }
  var text: String

  init(text: String) { self.text = text }

  init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
    if text == "decode" { throw Secret() }
    if text == "corrupt" {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "is not 1234"))
    }
  }

  func encode(to encoder: any Encoder) throws {
    if text == "encode" { throw Secret() }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

private final class Reader: MethodDeclaring, Sendable {
  static let read = try! AsyncMessage<Void, Word>("readerRead:")
  static let write = try! AsyncMessage<Word, String>("readerWrite:")

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("readerRead:") { (_: Reader, _: Word) in }
    methods.register("readerWrite:") { (_: Reader, text: String) in Word(text: text) }
  }

  static func interface() throws -> Interface {
    var interface = Interface("reader")
    try interface.allow(read)
    try interface.allow(write)
    return interface
  }
}

@Suite("Values that their types refuse", .timeLimit(.minutes(60)))
struct RefusedValueTests {
  @Test("the text of a type's own decoding error stays in its process", arguments: Way.allCases)
  func secrets(way: Way) async throws {
    let (there, here) = try way.ends()
    let name = "readers \(UInt32.random(in: 0 ... .max))"
    let host = RemoteHost(there, as: name)
    defer { host.close() }
    let interface = try Reader.interface()
    try host.expose(Reader(), interface)
    let remote = RemoteProxy(interface, here, at: name, deadline: .seconds(3000))
    func refused(_ call: () async throws -> Void) async -> String {
      do { try await call() } catch RemoteError.refused(_, let text) { return text } catch {
        Issue.record("\(error)")
      }
      return "performed"
    }
    try await Reader.read(Word(text: "fine"), on: remote)
    for text in ["decode", "corrupt"] {
      let words = await refused { try await Reader.read(Word(text: text), on: remote) }
      #expect(words.hasPrefix("byte ") && words.contains("not a valid value of "), "\(words)")
      #expect(!words.contains("1234"), "\(words)")
    }
    let words = await refused { _ = try await Reader.write("encode", on: remote) }
    #expect(words.hasPrefix("byte 0: not a valid value of ") && !words.contains("1234"), "\(words)")
    // The process that decodes an answer gets the whole error.
    await #expect {
      _ = try await Reader.write("decode", on: remote)
    } throws: { "\($0)".contains("1234") }
  }
}
