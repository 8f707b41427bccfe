// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import ForwardingTestSupport
import Glibc
import Invocations
import Synchronization
import Testing
import TypeEncodings

@Suite("Call plans of structures with registered layouts")
struct RegisteredLayoutTests {
  private func signature(
    _ encoding: String, _ layout: StructureLayouts.Layout
  ) throws -> MethodSignature {
    var layouts = StructureLayouts()
    layouts["s"] = layout
    return try MethodSignature(parsing: encoding, layouts: layouts)
  }

  @Test("an alignment above 16 is refused")
  func overaligned() throws {
    let signature = try signature(
      "vi{s=i}", .init(size: 64, alignment: 32, fieldOffsets: [0]))
    #expect(throws: InvocationError.unsupportedValue(index: 2, signature: signature)) {
      try CallPlan.shared(for: signature)
    }
  }

  @Test("a packed structure is passed as in C: on x86-64 in memory, on AArch64 in two registers")
  func packed() throws {
    try #require(CallPlan.hasDirectEngine)
    let signature = try signature(
      "i{s=cdi}d", .init(size: 13, alignment: 1, fieldOffsets: [0, 1, 9]))
    #expect(
      try CallPlan.shared(for: signature).location(ofArgument: 0).text
        == TestMachine.value(x86_64: "stack+0", aarch64: "x0:x1"))
    let library = try CompiledLibrary(
      CCompiler.system().library(
        """
        struct __attribute__((packed)) s { char a; double b; int c; };
        int f(struct s v, double d) { return v.a + (int)v.b + v.c + (int)d; }
        """))
    let call = try Invocation(signature)
    var bytes: [UInt8] = [1]
    bytes += withUnsafeBytes(of: 20.0) { Array($0) } + withUnsafeBytes(of: Int32(300)) { Array($0) }
    try call.setArgument(bytes: bytes, at: 0)
    try call.setArgument(4000.0, at: 1)
    try call.invoke(using: library.address("f"))
    #expect(try call.result(as: Int32.self) == 4321)
    #expect(call.invokeThroughLibffi(using: try library.address("f")))
    #expect(try call.result(as: Int32.self) == 4321)
  }

  @Test("a small structure with only a registered size is not passed by value")
  func membersUnknown() throws {
    for size in [1, 8] {
      let small = try signature("v{s}", .init(size: size, alignment: size))
      #expect(
        throws: InvocationError.encoding(
          TypeEncodingError(reason: .membersUnknown, offset: 1, encoding: "v{s}"))
      ) { try CallPlan.shared(for: small) }
    }
    // Where it is passed in memory, whatever its members are: on AArch64 above four quads.
    let large = TestMachine.value(x86_64: 24, aarch64: 72)
    _ = try CallPlan.shared(for: signature("v{s}", .init(size: large, alignment: 8)))
  }
}

@Suite("Call plans that are shared")
struct SharedPlanTests {
  @Test("a signature has one plan, which its equals share, and strings from outside fill no cache")
  func cache() throws {
    let one = try CallPlan.shared(for: MethodSignature("v@:{shared=iid}"))
    #expect(try one === CallPlan.shared(for: MethodSignature("v@:{other=iid}")))
    #expect(try one === CallPlan.shared(for: MethodSignature(parsing: "v32@0:8{shared=iid}16")))
    #expect(try one === CallPlan.shared(for: one.signature))
    for index in 0..<5_000 {
      let foreign = try MethodSignature(parsing: "v@:{f=[\(index + 1)c]i}")
      _ = try CallPlan.shared(for: foreign)
      _ = try Invocation(parsing: "v@:{g=[\(index + 1)c]i}")
    }
    // They would fill both. Other tests run concurrently, and use fewer literals.
    #expect(CallPlan.cacheCount < CallPlan.cacheCapacity)
  }

  @Test("the plan of a signature from outside is released with both")
  func end() throws {
    weak var plan: CallPlan?
    do {
      let signature = try MethodSignature(parsing: "v@:qqqidd")
      plan = try CallPlan.shared(for: signature)
      #expect(plan != nil)
      #expect(try CallPlan.shared(for: MethodSignature(parsing: "v@:qqqidd")) === plan)
      #expect(try Invocation(signature, selector: "a:b:c:d:e:f:").plan === plan)
      withExtendedLifetime(signature) {}
    }
    #expect(plan == nil)
  }

  @Test(
    "plans of signatures from outside leave nothing behind",
    .countsMemory)
  func memory() async {
    await #expect(processExitsWith: .success) {
      func makePlans(_ sizes: Range<Int>) throws {
        for size in sizes { _ = try Invocation(parsing: "v@:{left=[\(size)c]i}") }
      }
      try makePlans(1..<1000)
      let before = fixture_allocated_bytes()
      try makePlans(1000..<11_000)
      let left = fixture_allocated_bytes() - before
      require(left < 100_000, "\(left) bytes")
    }
  }

  @Test("threads that make and release plans of one signature never see a released one")
  func racing() {
    let text = "v@:{racing_plans=iiidci}"
    onThreads(8) { _ in
      for _ in 0..<500 {
        guard let one = try? Invocation(parsing: text), let two = try? Invocation(parsing: text)
        else { return #expect(Bool(false), "not made") }
        #expect(one.plan === two.plan)
      }
    }
  }

  /// ThreadSanitizer sees a broken promise. The other thread learns of the plan in a way that orders no
  /// memory.
  @Test("a thread uses the plan that another one has just made for a signature")
  func unordered() throws {
    let signature = try MethodSignature(parsing: "i{p=cd}{p=cd}")
    let size = Atomic(0)
    let isMade = Atomic(false)
    onThreads(2) { thread in
      while thread == 1, !isMade.load(ordering: .relaxed) { sched_yield() }
      let plan = try? CallPlan.shared(for: signature)
      size.add(plan?.frameSize ?? 0, ordering: .relaxed)
      isMade.store(true, ordering: .relaxed)
    }
    #expect(try size.load(ordering: .relaxed) == 2 * CallPlan.shared(for: signature).frameSize)
  }

  @Test("a variadic call has a plan of its own")
  func variadic() throws {
    let signature = try MethodSignature(parsing: "v*qqid")
    let variadic = try CallPlan.shared(for: signature, fixedArgumentCount: 1)
    let shared = try CallPlan.shared(for: signature)
    #expect(shared !== variadic && !shared.isInterchangeable(with: variadic))
    #expect(try CallPlan.shared(for: variadic.signature) === shared)
    #expect(try CallPlan.shared(for: signature, fixedArgumentCount: 1) === variadic)
  }

  @Test(
    "plans are interchangeable if their structures have the same members, and all unowned addresses",
    arguments: [
      ("v@:{a=iid}", "v@:{b=iid}", true), ("v@:{a=iid}", "v@:{a=iif}", false),
      ("v@:^i", "v@:^v", true), ("v@:^v", "v@:*", false), ("v@:^v", "v@:@", false),
      ("v@:^v", "v@:#", false), ("v@:^v", "v@::", false), ("v@:^v", "v@:{box=^i}", false),
      ("v@:^v", "v@:q", false),
    ])
  func interchangeable(one: String, other: String, isSo: Bool) throws {
    let plans = try [one, other].map { try CallPlan.shared(for: MethodSignature(parsing: $0)) }
    #expect(plans[0].isInterchangeable(with: plans[1]) == isSo)
    #expect(plans[1].isInterchangeable(with: plans[0]) == isSo)
    let signatures = plans.map(\.signature)
    #expect(signatures[0].isInterchangeable(with: signatures[1]) == isSo)
  }
}
