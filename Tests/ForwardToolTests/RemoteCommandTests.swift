// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// Two processes of the tool, with a socket between them.
@Suite("forward serve and forward send", .timeLimit(.minutes(10)))
struct RemoteCommandTests {
  private func send(_ arguments: String...) throws -> Finished {
    try Tool.run(["send", "--deadline", "300"] + arguments)
  }

  @Test(
    "a message with each kind of type is sent, and its result printed",
    arguments: [
      ("price:", "d@:*", ["tea"], "3.5"), ("stock:", "i@:*", ["kettle"], "2"),
      ("isOpen", "B@:", [], "true"), ("volume:", "d@:{=ddd}", ["[1,2,2.5]"], "5.0"),
      ("volume:", "d@:{AnyName=ddd}", ["[1,2,3]"], "6.0"),
      ("label:", "^{Swift.Array_Swift.UInt8_}@:*", ["Té"], "54c3a9"),
      (
        "order:", "^{forward.Receipt}@:^{forward.Order}", ["{\"articles\":{\"tea\":2,\"milk\":1}}"],
        "{\"articles\":3,\"total\":8.2}"
      ),
      ("wait:", "v@:d", ["-1"], ""),
    ])
  func asked(selector: String, encoding: String, given: [String], expected: String) throws {
    let shop = try ServedShop()
    defer { shop.end() }
    let result = try Tool.run(
      ["send", "--deadline", "300", shop.address, "shop.shop", selector, encoding] + given)
    #expect(result.errors == "")
    #expect(result.output == (expected.isEmpty ? "" : expected + "\n"))
    #expect(result.status == 0)
  }

  @Test("the exposed messages are listed, each call has a line, and ^C prints the counts")
  func lines() throws {
    let shop = try ServedShop(["--as", "corner.shop"])
    defer { shop.end() }
    #expect(shop.header[0] == "corner%2Eshop.shop at \(shop.address)")
    #expect(shop.header.contains("  restock:amount:  'v@:*i'"))
    #expect(try send(shop.address, "corner%2Eshop.shop", "price:", "d@:*", "tea").status == 0)
    #expect(
      try send(shop.address, "forwarding.corner%2Eshop.shop", "stock:", "i@:*", "jam").status == 1)
    #expect(try send(shop.address, "corner%2Eshop.shop", "stock:", "i@:*i", "tea", "1").status != 0)
    #expect(try send(shop.address, "corner%2Eshop.shop", "rob", "v@:").status == 1)
    let lines = try shop.end(SIGINT)
    #expect(lines[0].contains(/^     1  asked  process \d+ of user \d+  price: "tea"  → 3.5$/))
    #expect(
      lines[1].hasSuffix(
        "stock: \"jam\"  the target threw 2: there is no 'jam'; there are tea, milk and kettle"))
    #expect(lines[2].hasSuffix("?  refused: the host has no such message"))
    #expect(
      lines.dropFirst(3) == [
        "asked     3", "told      0", "answered  1", "failed    1", "refused   1", "strange   0",
      ])
    #expect(shop.status == 0)
    #expect(!FileManager.default.fileExists(atPath: shop.path))
  }

  @Test("with --json, the list, each call and the counts are objects; --count ends the command")
  func json() throws {
    let shop = try ServedShop(["--json", "--count", "3"])
    defer { shop.end() }
    let list = try #require(try Tool.objects(shop.header[0]).first)
    #expect(list["subject"] as? String == "shop.shop")
    #expect((list["messages"] as? [[String: String]])?.count == 9)
    let answer = try send("--json", shop.address, "shop.shop", "stock:", "i@:*", "tea")
    #expect(try Tool.objects(answer.output).first?["result"] as? Int == 12)
    let told = try send(
      "--json", "--tell", shop.address, "shop.shop", "restock:amount:", "v@:*i", "tea", "5")
    #expect(told.output == "{\"told\":true}\n")
    let refused = try send(
      "--json", shop.address, "shop.shop", "buy:amount:", "d@:*i", "kettle", "3")
    let error = try #require(try Tool.objects(refused.output).first)
    #expect(error["code"] as? Int == 28 && error["text"] as? String == "only 2 are left")
    let lines = try Tool.objects(try shop.rest().joined(separator: "\n"))
    let calls = lines.dropLast().sorted { "\($0["kind"] ?? "")" < "\($1["kind"] ?? "")" }
    try #require(calls.count == 3)
    #expect(calls[2]["selector"] as? String == "restock:amount:")
    #expect((calls[2]["arguments"] as? [Any])?.last as? Int == 5)
    #expect(calls[2]["result"] == nil)
    #expect(calls.contains { $0["result"] as? Int == 12 })
    #expect(calls.contains { $0["code"] as? Int == 28 })
    let counts = lines.last?["statistics"] as? [String: Int]
    #expect(counts?["asked"] == 2 && counts?["told"] == 1 && counts?["failed"] == 1)
    #expect(shop.status == 0)
  }

  /// The arguments of `send`, with `ADDRESS` for a shop's address; the exit code; the output.
  static let faults: [([String], Int32, String)] = [
    (
      ["unix:/tmp/forward-nobody", "shop.shop", "price:", "d@:*", "tea"], 1,
      "'forward serve unix:/tmp/forward-nobody' is one to try"
    ),
    (["ADDRESS", "shop.till", "price:", "d@:*", "tea"], 1, "nothing there has the name shop.till"),
    (["ADDRESS", "shop.shop", "price:", "i@:*", "tea"], 1, "'price:' is d@:*, but i@:* is given"),
    (["ADDRESS", "shop.shop", "rob:", "d@:*", "tea"], 1, "has no message 'rob:'"),
    (
      ["ADDRESS", "shop.shop", "buy:amount:", "d@:*i", "jam", "1"], 1,
      "the target threw 2: there is no 'jam'"
    ),
    (
      ["ADDRESS", "shop.shop", "stock:", "i@:*", "\u{1B}[2Jtea"], 1,
      "there is no '\\u001b[2Jtea'"
    ),
    (["--tell", "ADDRESS", "shop.shop", "price:", "d@:*", "tea"], 1, "leave --tell out"),
    (["ADDRESS", "shop.shop", "price:", "d@:*", "tea", "3"], 64, "1 argument is expected, 2 were"),
    (["ADDRESS", "shop.shop", "price", "d@:*", "tea"], 65, "0 arguments are expected, 1 was"),
    (["ADDRESS", "shop.shop", "price:", "d*", "tea"], 65, "as in i@:i"),
    (["ADDRESS", "shop.shop", "price:", "d@:{", "tea"], 65, "^ the structure is not closed"),
    (["ADDRESS", "shop.shop", "price:", "d@:^i", "tea"], 65, "an address means nothing elsewhere"),
    (["ADDRESS", "shop.shop", "wait:", "v@:d", "soon"], 65, "soon is no value for d"),
    (["ADDRESS", "shop.shop", "order:", "v@:^{Order}", "tea"], 65, "write JSON"),
    (
      ["ADDRESS", "shop.shop", "price:", "v@:^{Swift.Array_Swift.UInt8_}", "0+"], 65,
      "write bytes as 00ff7f"
    ),
    (["ADDRESS", "shop", "price:", "d@:*", "tea"], 64, "is no NAME.INTERFACE"),
    (["ADDRESS", "a%+5.shop", "price:", "d@:*", "tea"], 64, "is no NAME.INTERFACE"),
    (["tcp:1", "shop.shop", "price:", "d@:*", "tea"], 64, "write unix:PATH or nats://HOST:PORT"),
    (["ADDRESS", "shop.shop", "price:"], 64, "a selector and an encoding are expected"),
    (["--deadline", "0", "ADDRESS", "shop.shop", "isOpen", "B@:"], 64, "--deadline needs seconds"),
    (["--ping", "--tell", "ADDRESS", "shop.shop"], 64, "tells nothing"),
    (["--expect", "2", "ADDRESS", "shop.shop", "isOpen", "B@:"], 64, "goes with --ping"),
  ]

  @Test("each error has advice and an exit code")
  func faults() throws {
    let shop = try ServedShop()
    defer { shop.end() }
    for (given, status, words) in Self.faults {
      let arguments = given.map { $0 == "ADDRESS" ? shop.address : $0 }
      let deadline = given[0] == "--deadline" ? [] : ["--deadline", "300"]
      let result = try Tool.run(["send"] + deadline + arguments)
      #expect(result.status == status, "\(given)")
      #expect(result.errors.contains(words), "\(given): \(result.errors)")
      #expect(result.output == "", "\(given)")
    }
  }

  @Test("a call times out; a host that is ending refuses calls; a second ^C ends it at once")
  func ending() throws {
    let shop = try ServedShop()
    defer { shop.end() }
    let late = try Tool.run(
      ["send", "--deadline", "0.1", shop.address, "shop.shop", "wait:", "v@:d", "60"])
    #expect(late.status == 1)
    #expect(late.errors.contains("no answer came in time\n"))
    #expect(late.errors.contains("'--deadline SECONDS' waits longer"))
    // The shop waits for this call before it ends, so it does not end at once.
    let waiting = Process()
    waiting.executableURL = Tool.program
    waiting.arguments = [
      "send", "--deadline", "300", shop.address, "shop.shop", "wait:", "v@:d", "300",
    ]
    waiting.standardError = FileHandle.nullDevice
    try waiting.run()
    defer { waiting.terminate() }
    // These processes start later and end, so the waiting one has sent its call by then.
    for _ in 0..<5 { #expect(try send(shop.address, "shop.shop", "isOpen", "B@:").status == 0) }
    shop.process.interrupt()
    var refused = try send(shop.address, "shop.shop", "isOpen", "B@:")
    while refused.status == 0 { refused = try send(shop.address, "shop.shop", "isOpen", "B@:") }
    #expect(refused.errors.contains("refused: the host is going away"))
    shop.process.interrupt()
    shop.process.waitUntilExit()
    #expect(shop.status == 128 + SIGINT)
  }

  @Test(
    "the output on the pages is the output of the commands",
    arguments: ["Documentation/Tool.md", "Documentation/Remote.md"])
  func pages(path: String) throws {
    let page = try String(
      contentsOf: SnippetTests.root.appendingPathComponent(path), encoding: .utf8)
    let shop = try ServedShop()
    defer { shop.end() }
    func shown(_ text: String) -> String {
      text.replacingOccurrences(of: shop.address, with: "unix:/tmp/shop")
    }
    if path != "Documentation/Tool.md" {
      #expect(page.contains(shown(shop.header.joined(separator: "\n"))))
    }
    let sends = page.split(separator: "\n").filter { $0.hasPrefix("$ forward send ") }
    #expect(!sends.isEmpty)
    for line in sends {
      let command = line.dropFirst(9).replacingOccurrences(of: "unix:/tmp/shop", with: shop.address)
      let result = try ForwardingTestSupport.run(
        "/bin/sh", ["-c", "'\(Tool.program.path)' \(command) 2>&1"])
      #expect(page.contains("\(line)\n\(shown(result.output))"), "\(line): \(result.output)")
    }
  }

  @Test("--ping prints the number of hosts")
  func ping() throws {
    let shop = try ServedShop()
    defer { shop.end() }
    let found = try send("--ping", shop.address, "shop.shop")
    #expect(found.status == 0 && found.output.hasPrefix("1 host answered in "))
    let none = try send("--ping", "--json", shop.address, "till.shop")
    #expect(none.status == 1)
    #expect(try Tool.objects(none.output).first?["hosts"] as? Int == 0)
  }

  @Test("a second listener at an address is refused with the reason")
  func twice() throws {
    let shop = try ServedShop()
    defer { shop.end() }
    let second = try Tool.run(["serve", shop.address])
    #expect(second.status == 1 && second.errors.contains("a process listens there already"))
    #expect(try Tool.run(["serve"]).status == 64)
    #expect(try Tool.run(["serve", "--count", "0", shop.address]).status == 64)
  }

  #if NATS
    @Test("over NATS, a shop is reached through the server")
    func nats() throws {
      let server = try #require(try LoopbackServer())
      defer { server.end() }
      let shop = try ServedShop(["--count", "1"], at: server.url)
      defer { shop.end() }
      defer { shop.end() }
      #expect(try send("--ping", server.url, "shop.shop").status == 0)
      #expect(try send(server.url, "shop.shop", "price:", "d@:*", "tea").output == "3.5\n")
      #expect(try shop.rest()[0].contains("asked  the network  price: \"tea\"  → 3.5"))
      #expect(shop.status == 0)
    }
  #else
    @Test(
      "without NATS, the tool prints how to build it with NATS",
      arguments: ["serve", "send --ping"])
    func withoutNATS(command: String) throws {
      let words = command.split(separator: " ").map(String.init)
      let result = try Tool.run(
        words + ["nats://127.0.0.1:4222"] + (words.count > 1 ? ["shop.shop"] : []))
      #expect(result.status == 1)
      #expect(result.errors.contains("swift build -c release --traits NATS --product forward"))
    }
  #endif
}
