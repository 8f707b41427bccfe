// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

/// The numbers of the objects of a test that live.
private final class Roster: Sendable {
  let alive = Guarded<Set<Int>>([])
}

private final class Member: CallObject, Sendable {
  let number: Int
  private let roster: Roster

  init(_ number: Int, _ roster: Roster) {
    (self.number, self.roster) = (number, roster)
    roster.alive.withLock { _ = $0.insert(number) }
  }

  deinit { roster.alive.withLock { _ = $0.remove(number) } }
}

/// Answers with the first object, or throws if the text says so.
private final class Echo: MethodDeclaring {
  struct Refusal: Error {}

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("echo:and:text:", encoding: "@@:@@*") {
      (_: Echo, one: Member?, _: Member?, text: UnsafePointer<CChar>?) throws -> Member? in
      if let text, String(cString: text) == "refused" { throw Refusal() }
      return one
    }
  }
}

/// A random history of invocations, and a model that says after each step which objects live.
private struct LifetimeHistory {
  /// An invocation, and the numbers of the objects in its places: of the target, of arguments 2 and 3,
  /// and of the result.
  struct Held {
    static let result = -1
    var call: Invocation
    var objects: [Int: Int] = [:]
    var text: String?
    /// The places that do not own their objects, and 4 for the text.
    var borrowed: Set<Int> = []
    var retains = false, retainsTarget = false

    var owned: [Int] { objects.filter { !borrowed.contains($0.key) }.map(\.value) }

    func isRetaining(_ place: Int) -> Bool { place == 0 ? retainsTarget : retains }

    mutating func set(_ number: Int?, at place: Int, isOwned: Bool = true) {
      objects[place] = number
      borrowed.remove(place)
      if !isOwned, !isRetaining(place) { borrowed.insert(place) }
    }
  }

  let roster = Roster()
  private var random: SeededGenerator
  private var count = 0
  private var held: [Held] = []
  private var kept: [(call: KeptCall, objects: [Int: Int], text: String?)] = []
  /// What lives outside of the invocations, which may borrow it.
  private var pool: [Member] = []
  private var texts: [UnsafeMutablePointer<CChar>] = []
  private var differenceOfPool: String?
  private let same = Fixtures.named("m_same").function

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    try add()
  }

  private mutating func add() throws {
    held.append(Held(call: try Invocation(MethodSignature("@@:@@*"), selector: "echo:and:text:")))
  }

  private mutating func member() -> Member {
    count += 1
    return Member(count, roster)
  }

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private enum Step: String, CaseIterable {
    case object, nothing, sameObject, unretained, retainArguments, dropPool, copy, text
    case borrowedText, result, borrowedResult, invoke, invokeC, keep, recall, end
  }

  /// Makes a step, and returns its name.
  mutating func step() throws -> String {
    if held.isEmpty { try add() }
    let step = Step.allCases[number(Step.allCases.count)]
    let index = number(held.count)
    let place = [0, 2, 3][number(3)]
    let isEven = number(2) == 0
    try make(step, held[index].call, index, place, isEven)
    return "\(step) of \(index) at \(place)\(isEven ? ", even" : "")"
  }

  private mutating func make(
    _ step: Step, _ call: Invocation, _ index: Int, _ place: Int, _ isEven: Bool
  ) throws {
    let zeros = [UInt8](repeating: 0, count: 8)
    switch step {
    case .object:
      let object = member()
      try isEven
        ? call.setArgument(object, at: place) : call.setArgument(object as AnyObject, at: place)
      held[index].set(object.number, at: place)
    case .nothing:
      try isEven
        ? call.setArgument(nil as AnyObject?, at: place) : call.setArgument(bytes: zeros, at: place)
      held[index].set(nil, at: place)
    case .sameObject:
      let other = [0, 2, 3][number(3)]
      try call.setArgument(call.object(at: place) as? Member, at: other)
      held[index].set(held[index].objects[place], at: other)
    case .unretained:
      pool.append(member())
      try call.setArgument(unretained: pool.last, at: place)
      held[index].set(count, at: place, isOwned: false)
    case .retainArguments:
      call.retainArguments(includingTarget: isEven)
      held[index].retains = true
      held[index].retainsTarget = held[index].retainsTarget || isEven
      held[index].borrowed = held[index].retainsTarget ? [] : held[index].borrowed.intersection([0])
    case .dropPool: try dropPool()
    case .copy:
      var copy = held[index]
      copy.call = call.copy()
      copy.borrowed = []
      held.append(copy)
    case .text:
      let text = [nil, "", "text", "refused", String(repeating: "long ", count: 9)][number(5)]
      try call.setArgument(text, at: 4)
      (held[index].text, _) = (text, held[index].borrowed.remove(4))
    case .borrowedText:
      texts.append(strdup("borrowed"))
      try call.setArgument(UnsafePointer(texts.last!), at: 4)
      held[index].text = "borrowed"
      if !held[index].retains { held[index].borrowed.insert(4) }
    case .result:
      let object = isEven ? member() : nil
      try call.setResult(object)
      held[index].set(object?.number, at: Held.result)
    case .borrowedResult:
      pool.append(member())
      let word = UInt(bitPattern: Unmanaged.passUnretained(pool.last!).toOpaque())
      try call.setResult(bytes: withUnsafeBytes(of: word) { Array($0) })
      held[index].set(count, at: Held.result, isOwned: false)
    case .invoke:
      try call.setTarget(Echo())
      held[index].set(nil, at: 0)
      let fails = held[index].text == "refused"
      do {
        try call.invoke()
        #expect(!fails)
      } catch is Echo.Refusal { #expect(fails) }
      held[index].set(fails ? nil : held[index].objects[2], at: Held.result)
    case .invokeC:
      // The C function does not look at its other arguments.
      let object = try call.object(at: 2)
      if isEven, let object { _ = Unmanaged.passRetained(object) }
      try call.invoke(using: same, returnsRetained: isEven)
      held[index].set(held[index].objects[2], at: Held.result)
    case .keep:
      let objects = held[index].objects.filter { $0.key > 0 }
      kept.append((try KeptCall.of(call.call), objects, held[index].text))
    case .recall:
      if kept.isEmpty { return }
      let (call, objects, text) = kept.remove(at: number(kept.count))
      held.append(Held(call: call.invocation(), objects: objects, text: text))
    case .end: held.remove(at: index)
    }
  }

  private mutating func dropPool() throws {
    pool = []
    for text in texts {
      memset(text, 0x7F, strlen(text))
      free(text)
    }
    texts = []
    // Nothing reads borrowed values now. Who owns a value that was in the pool holds it.
    differenceOfPool = livingDifference()
    for index in held.indices {
      for place in held[index].borrowed {
        if place == Held.result {
          try held[index].call.setResult(nil as AnyObject?)
        } else {
          try held[index].call.setArgument(bytes: [UInt8](repeating: 0, count: 8), at: place)
        }
        if place == 4 { held[index].text = nil } else { held[index].objects[place] = nil }
      }
      held[index].borrowed = []
    }
  }

  /// Compares what lives, and what each invocation holds. Returns what differs.
  func difference() throws -> String? {
    if let difference = differenceOfPool ?? livingDifference() { return difference }
    for (index, held) in held.enumerated() {
      for place in [0, 2, 3] {
        let object = try held.call.object(at: place) as? Member
        if object?.number != held.objects[place] { return "invocation \(index), place \(place)" }
      }
      let result = (try? held.call.resultObject()) as? Member
      if result?.number != held.objects[Held.result] { return "invocation \(index), result" }
      let text = try held.call.argument(at: 4, as: String?.self)
      if text != held.text { return "invocation \(index), text: \(text ?? "nil")" }
      if held.call.argumentsRetained != held.retains { return "invocation \(index) retains" }
    }
    return nil
  }

  private func livingDifference() -> String? {
    let owned = held.flatMap(\.owned) + kept.flatMap(\.objects.values)
    let expected = Set(owned + pool.map(\.number))
    let alive = roster.alive.read { $0 }
    return alive == expected
      ? nil : "\(alive.sorted()) are alive, and \(expected.sorted()) should be"
  }

  mutating func end() throws -> String? {
    try dropPool()
    (held, kept) = ([], [])
    return differenceOfPool ?? livingDifference()
  }
}

@Suite("No leaks and no double releases")
struct LifetimeTests {
  @Test(
    "values live as long as an invocation, a copy or a kept call owns them, whatever the history",
    arguments: 0..<40)
  func model(seed: UInt64) throws {
    var history = try LifetimeHistory(seed: seed)
    var steps: [String] = []
    for _ in 0..<250 {
      steps.append(try history.step())
      if let difference = try history.difference() {
        Issue.record("seed \(seed), \(steps.joined(separator: ", ")): \(difference)")
        return
      }
    }
    #expect(try history.end() == nil, "seed \(seed)")
  }

  /// A value whose carrier is read while it is set as an argument, and which sets the same argument
  /// there.
  private struct Meddler: CarriedValue {
    nonisolated(unsafe) static var call: Invocation?
    nonisolated(unsafe) static var refused: InvocationError?
    static let census = Census()
    var carrier: Tracked {
      do throws(InvocationError) {
        try Self.call?.setArgument(Tracked("other", in: Self.census), at: 2)
      } catch { Self.refused = error }
      return Tracked("mine", in: Self.census)
    }
    init() {}
    init?(carrier: Tracked) { self.init() }
  }

  @Test("a value that sets its own place while it is set is refused, and nothing leaks")
  func meddling() throws {
    try {
      let call = try Invocation(parsing: "v@:@")
      try call.setArgument(Tracked("old", in: Meddler.census), at: 2)
      Meddler.call = call
      defer { Meddler.call = nil }
      try call.setArgument(Meddler(), at: 2)
      #expect(Meddler.refused == .argumentInUse(index: 2))
      #expect(try call.argument(at: 2, as: Tracked.self).name == "mine")
    }()
    #expect(Meddler.census.alive == 0)
  }

  @Test("an invocation that its target retains does not retain it if told so")
  func withoutTarget() throws {
    final class Owner {
      var call: Invocation?
      let tracked: Tracked
      init(_ census: Census) { tracked = Tracked(in: census) }
    }
    let census = Census()
    try {
      let owner = Owner(census)
      let call = try Invocation(parsing: "v@:@")
      try call.setArgument(unretained: owner, at: 0)
      try call.setArgument(unretained: owner.tracked, at: 2)
      call.retainArguments(includingTarget: false)
      owner.call = call
    }()
    #expect(census.alive == 0)
  }

  @Test("a borrowed C string keeps its address, also for its callee; a copy has another one")
  func borrowedStrings() throws {
    let (call, function) = try Fixtures.call("m_loop")
    var text = Array("Hello There".utf8CString)
    try text.withUnsafeMutableBufferPointer { buffer in
      let start = buffer.baseAddress
      try call.setArgument(start, at: 2)
      try call.invoke(using: function)
      #expect(try call.result(as: UnsafeMutablePointer<CChar>.self) == buffer.baseAddress)
      call.retainArguments()
      let copy = try call.argument(at: 2, as: UnsafeMutablePointer<CChar>.self)
      #expect(copy != buffer.baseAddress)
      // Nothing behind a pointer is retained or copied.
      let pointing = try Invocation(parsing: "v@:^*")
      var behind = start
      try withUnsafeMutablePointer(to: &behind) { address in
        try pointing.setArgument(UnsafeMutableRawPointer(address), at: 2)
        pointing.retainArguments()
        #expect(try pointing.argument(at: 2, as: UnsafeMutableRawPointer.self) == address)
      }
      #expect(behind == start)
    }
    #expect(String(decoding: text.dropLast().map { UInt8($0) }, as: UTF8.self) == "Iello There")
    #expect(throws: InvocationError.embeddedNUL(offset: 2)) { try call.setArgument("ab\0c", at: 2) }
    #expect(try call.argument(at: 2, as: String.self) == "Iello There")
    try call.setArgument(nil as UnsafePointer<CChar>?, at: 2)
    #expect(try call.argument(at: 2, as: UnsafePointer<CChar>?.self) == nil)
  }

  @Test("the large result of a copy is stored in its own frame")
  func copiedHiddenPointer() throws {
    let (call, function) = try Fixtures.call("m_rectangle")
    let rectangle = [1.0, 2, 3, 4].withUnsafeBytes { Array($0) }
    try call.setArgument(bytes: rectangle, at: 2)
    let copy = call.copy()
    try copy.invoke(using: function)
    #expect(try copy.resultBytes() == rectangle)
    #expect(try copy.copy().resultBytes() == rectangle)
    #expect(throws: InvocationError.resultNotAvailable) { try call.resultBytes() }
  }

  /// A value that is too large for a call on the stack.
  private struct Block: CallStructure {
    var words = InlineArray<400, Int>(repeating: 7)
    static var structure: VouchedStructure<Self> { unsafe VouchedStructure("{Block=[400q]}") }
  }

  @Test("what a call lends is released, after an answer and after an error, also of large calls")
  func lent() throws {
    let census = Census()
    let functions = FunctionTable()
    try functions.register("show") { (text: String, object: AnyCallObject) in
      "\(text) \(type(of: object.object))"
    }
    try functions.register("large") { (block: Block, object: AnyCallObject, text: String) in
      "\(text) \(block.words[399])"
    }
    try functions.register("fail") { (_: AnyCallObject) throws in throw InvocationError.outOfMemory
    }
    for _ in 0..<3 {
      let object = AnyCallObject(Tracked(in: census))
      #expect(try functions.call("show", "a", object, returning: String.self) == "a Tracked")
      #expect(try functions.call("large", Block(), object, "b", returning: String.self) == "b 7")
      #expect(throws: InvocationError.outOfMemory) { try functions.call("fail", object) }
    }
    #expect(census.alive == 0)
    let encoding = "v" + String(repeating: "@", count: 70)
    let many = try Invocation(parsing: encoding)
    for index in 0..<70 { try many.setArgument(Tracked(in: census), at: index) }
    let copy = many.copy()
    for index in 0..<70 { try many.setArgument(nil, at: index) }
    #expect(census.alive == 70)
    for index in 0..<70 { try copy.setArgument(nil, at: index) }
    #expect(census.alive == 0)
    func object() -> Tracked { Tracked(in: census) }
    let died = census.died
    // The function takes no arguments, and does not look at these.
    try FunctionTable(ofProgram: ["getpid": encoding]).call(
      "getpid",
      object(), object(), object(), object(), object(), object(), object(),
      object(), object(), object(), object(), object(), object(), object(),
      object(), object(), object(), object(), object(), object(), object(),
      object(), object(), object(), object(), object(), object(), object(),
      object(), object(), object(), object(), object(), object(), object(),
      object(), object(), object(), object(), object(), object(), object(),
      object(), object(), object(), object(), object(), object(), object(),
      object(), object(), object(), object(), object(), object(), object(),
      object(), object(), object(), object(), object(), object(), object(),
      object(), object(), object(), object(), object(), object(), object())
    #expect(census.died == died + 70)
  }
}
