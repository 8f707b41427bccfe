// SPDX-License-Identifier: Apache-2.0
import BenchmarkSubjects
import Forwarding

// Lookups by name: functions, selectors, methods, and the plan of a signature.
extension CoreRows {
  static func names() throws -> [Benchmark] {
    try functions() + spelled() + selectors()
  }

  // MARK: Functions

  private static func functions() throws -> [Benchmark] {
    let pointer = "function/pow/pointer"
    let program = try Library("")
    let functions = FunctionTable()
    try unsafe functions.register("pow", encoding: "ddd", unsafeSymbolIn: program)
    try unsafe functions.register("strlen", encoding: "Q*", unsafeSymbolIn: program)
    let subject = Subject()
    try functions.register("keep") { (value: Int) in subject.keep(value) }
    // A hundred functions, as in a real program: any table finds one of three in one step.
    for index in 0..<100 { try functions.register("other\(index)") { index } }
    let call = try unsafe unsafeBitCast(
      program.address(of: "pow"), to: (@convention(c) (Double, Double) -> Double).self)
    let pow = try functions.function("pow", as: ((Double, Double) -> Double).self)
    let keep = try functions.function("keep", as: ((Int) -> Void).self)
    let length = try functions.function("strlen", as: ((String) -> UInt).self)
    return [
      Benchmark(pointer) { count in
        var sum = 0.0
        for index in 0..<count { sum += call(1.5, Double(index & 15)) }
        subject_use(Int64(sum.rounded().remainder(dividingBy: 1024)))
      },
      Benchmark("function/pow/call", over: pointer) { count in
        var sum = 0.0
        for index in 0..<count {
          sum += try functions.call("pow", 1.5, Double(index & 15), returning: Double.self)
        }
        subject_use(Int64(sum.rounded().remainder(dividingBy: 1024)))
      },
      Benchmark("function/pow/typed", over: pointer) { count in
        var sum = 0.0
        for index in 0..<count { sum += try pow(1.5, Double(index & 15)) }
        subject_use(Int64(sum.rounded().remainder(dividingBy: 1024)))
      },
      Benchmark("function/closure/call", over: "send/message/closure") { count in
        for index in 0..<count { try functions.call("keep", index) }
      },
      Benchmark("function/closure/typed", over: "send/message/closure") { count in
        for index in 0..<count { try keep(index) }
      },
      Benchmark("function/text/call", over: "send/message/closure") { count in
        for _ in 0..<count { _ = try functions.call("strlen", "seven", returning: UInt.self) }
      },
      Benchmark("function/text/typed", over: "send/message/closure") { count in
        for _ in 0..<count { try length("seven") }
      },
    ]
  }

  // MARK: Messages with spelled selectors

  private static func spelled() throws -> [Benchmark] {
    let keep = try Message<NoResult, Int>("keep:")
    return [1, 16].flatMap { number in
      let targets = (0..<number).map { _ in Subject() }
      let proxy = MulticastProxy()
      for target in targets { proxy.add(target) }
      return [
        Benchmark("dynamic/typed/\(number)") { count in
          try withExtendedLifetime(targets) {
            for index in 0..<count { try keep(index, on: proxy) }
          }
        },
        Benchmark("dynamic/spelled/\(number)", over: "dynamic/typed/\(number)") { count in
          try withExtendedLifetime(targets) {
            for index in 0..<count { try proxy.dynamic.keep(index) }
          }
        },
      ]
    }
  }

  // MARK: Selectors and methods

  private static func selectors() throws -> [Benchmark] {
    let send = "send/message/closure"
    let subject = Subject()
    let plan = try CallPlan.shared(for: MethodSignature("v@:q"))
    let signature = try MethodSignature("v@:q")
    let parsed = try MethodSignature(parsing: "v@:qi")
    let keep: Selector = "keep:"
    return [
      Benchmark("selector/known/literal", over: send) { count in
        var words: UInt = 0
        for _ in 0..<count { words ^= Selector("keep:").address }
        subject_use(Int64(truncatingIfNeeded: words))
      },
      Benchmark("method/responds/known", over: send) { count in
        var answers = 0
        for _ in 0..<count where Introspection.responds(subject, to: keep) { answers += 1 }
        subject_use(Int64(answers))
      },
      Benchmark("invocation/create/plan") { count in
        for _ in 0..<count { keepForMeasuring(Invocation(plan)) }
      },
      Benchmark("invocation/create/signature", over: "invocation/create/plan") { count in
        for _ in 0..<count { keepForMeasuring(try Invocation(signature, selector: keep)) }
      },
      Benchmark("invocation/create/literal", over: "invocation/create/plan") { count in
        for _ in 0..<count {
          keepForMeasuring(try Invocation(MethodSignature("v@:q"), selector: "keep:"))
        }
      },
      Benchmark("invocation/create/parsed", over: "invocation/create/plan") { count in
        for _ in 0..<count { keepForMeasuring(try Invocation(parsed, selector: "keep:as:")) }
      },
    ]
  }

  /// Not inlined, so that the invocation is not allocated on the stack.
  @inline(never)
  private static func keepForMeasuring(_ invocation: Invocation) {}
}
