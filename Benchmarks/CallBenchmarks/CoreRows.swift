// SPDX-License-Identifier: Apache-2.0
import BenchmarkSubjects
import Forwarding

/// The rows that need only Swift, C and this package.
public enum CoreRows {
  /// The numbers of targets that fan-out is measured with.
  public static let targetCounts = [1, 4, 16, 64]

  /// All rows, baselines first.
  public static func all() throws -> [Benchmark] {
    try register()
    let groups: [() throws -> [Benchmark]] = [
      closures,
      directCalls,
      invocations,
      lookedUp,
      sends,
      recorded,
      multicasts,
      doors,
      signatures,
      values,
      faces,
      lanes,
      targets,
      names,
      texts,
      undo,
      spies,
      journals,
      journalSyncs,
      remote,
    ]
    let rows = try groups.flatMap { try $0() }
    try Benchmark.checkFaces(rows)
    return rows
  }

  static func register() throws {
    try MethodTable.of(Subject.self).register("keep:", replacing: true) {
      (subject: Subject, value: Int) in
      subject.keep(value)
    }
    try unsafe MethodTable.of(NativeSubject.self).register(
      "keep:", replacing: true, encoding: "v@:q", unsafeFunction: subject_address(.keepWord))
    try MethodTable.of(NativeSubject.self).register("first", replacing: true) {
      (subject: NativeSubject) in
      subject.word
    }
    try unsafe MethodTable.of(QuietSubject.self).register(
      "keep:", replacing: true, encoding: "v@:q", unsafeFunction: subject_address(.keepNothing))
  }

  // MARK: Swift without this package

  static func closures() -> [Benchmark] {
    let subject = Subject()
    let holder = ClosureHolder { [subject] in subject.keep($0) }
    let witness: any WordKeeping = subject
    var rows = [
      Benchmark("closure/call/noescape", over: "closure/call/stored") { count in
        callRepeatedly(count, holder.closure)
      },
      Benchmark("closure/call/stored") { count in
        for index in 0..<count { holder.closure(index) }
      },
      Benchmark("witness/call/existential", over: "closure/call/stored") { count in
        for index in 0..<count { witness.keepWord(index) }
      },
    ]
    for number in targetCounts {
      // Not with `map`, which would wrap each closure in another one. Weak closures have their own
      // targets, because retaining an object stays slower after a weak reference to it.
      var strong: [(Int) -> Void] = []
      for _ in 0..<number {
        let target = Subject()
        strong.append { target.keep($0) }
      }
      let targets = (0..<number).map { _ in Subject() }
      var weakly: [(Int) -> Void] = []
      for target in targets { weakly.append { [weak target] in target?.keep($0) } }
      rows.append(
        Benchmark("closure/array-strong/\(number)") { [strong] count in
          for index in 0..<count { for closure in strong { closure(index) } }
        })
      rows.append(
        Benchmark("closure/array-weak/\(number)", over: "closure/array-strong/\(number)") {
          [weakly] count in
          withExtendedLifetime(targets) {
            for index in 0..<count { for closure in weakly { closure(index) } }
          }
        })
    }
    return rows
  }

  /// Not inlined, so that the closure stays a parameter.
  @inline(never)
  private static func callRepeatedly(_ count: Int, _ body: (Int) -> Void) {
    for index in 0..<count { body(index) }
  }

  static func directCalls() -> [Benchmark] {
    let object = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
    let rectangle = SubjectRectangle(x: 1, y: 2, width: 3, height: 4)
    return [
      Benchmark("direct/object/call", over: "closure/call/stored") { count in
        for _ in 0..<count { unsafe subject_keep_object(object, nil, object) }
      },
      Benchmark("direct/rectangle/call", over: "closure/call/stored") { count in
        var rectangle = rectangle
        for _ in 0..<count { unsafe rectangle = subject_move(object, nil, rectangle) }
        subject_use(Int64(rectangle.x))
      },
      Benchmark("direct/ten/call", over: "closure/call/stored") { count in
        var sum: Int64 = 0
        for index in 0..<Int64(count) {
          unsafe sum &+= subject_add_ten(object, nil, index, 2, 3, 4, 5, 6, 7, 8, 9, 10)
        }
        subject_use(sum)
      },
    ]
  }

  // MARK: Invocations

  static func invocations() throws -> [Benchmark] {
    let stored = "closure/call/stored"
    let subject = Subject()
    let object = try Invocation(MethodSignature("v@:@"))
    try object.setTarget(subject)
    try object.setArgument(subject, at: 2)
    let one = try Invocation(MethodSignature("v@:q"))
    try one.setTarget(subject)
    let threePlan = try CallPlan.shared(for: MethodSignature("v@:qiq"))
    let three = Invocation(threePlan)
    let objectCode = unsafe subject_address(.keepObject)
    let wordCode = unsafe subject_address(.keepWord)
    let threeCode = unsafe subject_address(.keepThree)
    return [
      Benchmark("invoke/object/prepared", over: stored) { count in
        for _ in 0..<count { unsafe try object.invoke(using: objectCode) }
      },
      Benchmark("invoke/one/set1", over: stored) { count in
        for index in 0..<count {
          try one.setArgument(index, at: 2)
          unsafe try one.invoke(using: wordCode)
        }
      },
      Benchmark("invoke/three/set3", over: stored) { count in
        for index in 0..<count {
          try three.setArgument(index, at: 2)
          try three.setArgument(Int32(7), at: 3)
          try three.setArgument(index, at: 4)
          unsafe try three.invoke(using: threeCode)
        }
      },
      Benchmark("scoped/three/create-set3", over: stored) { count in
        for index in 0..<count {
          try threePlan.withInvocation { call in
            try call.setArgument(index, at: 2)
            try call.setArgument(Int32(7), at: 3)
            try call.setArgument(index, at: 4)
            unsafe try call.invoke(using: threeCode)
          }
        }
      },
      Benchmark("object/three/create-set3", over: stored) { count in
        for index in 0..<count {
          let call = Invocation(threePlan)
          try call.setArgument(index, at: 2)
          try call.setArgument(Int32(7), at: 3)
          try call.setArgument(index, at: 4)
          unsafe try call.invoke(using: threeCode)
        }
      },
    ] + (try results())
  }

  private static func results() throws -> [Benchmark] {
    let stored = "closure/call/stored"
    let integers = try Invocation(MethodSignature("i@:@ii"))
    let doubles = try Invocation(MethodSignature("d@:dd"))
    let rectangles = try Invocation(
      MethodSignature("{SubjectRectangle=dddd}@:{SubjectRectangle=dddd}"))
    let ten = try Invocation(MethodSignature("q@:qqqqqqqqqq"))
    for index in 0..<10 { try ten.setArgument(Int64(index), at: index + 2) }
    let subject = Subject()
    try integers.setArgument(subject, at: 2)
    let integersCode = unsafe subject_address(.addIntegers)
    let doublesCode = unsafe subject_address(.addDoubles)
    let moveCode = unsafe subject_address(.move)
    let tenCode = unsafe subject_address(.addTen)
    return [
      Benchmark("invoke/integers/set2-result", over: stored) { count in
        var sum: Int32 = 0
        for index in 0..<count {
          try integers.setArgument(Int32(truncatingIfNeeded: index), at: 3)
          try integers.setArgument(Int32(7), at: 4)
          unsafe try integers.invoke(using: integersCode)
          sum &+= try integers.result(as: Int32.self)
        }
        subject_use(Int64(sum))
      },
      Benchmark("invoke/doubles/set2-result", over: stored) { count in
        var sum = 0.0
        for index in 0..<count {
          try doubles.setArgument(Double(index), at: 2)
          try doubles.setArgument(7.0, at: 3)
          unsafe try doubles.invoke(using: doublesCode)
          sum += try doubles.result(as: Double.self)
        }
        subject_use(Int64(sum))
      },
      Benchmark("invoke/rectangle/set-result", over: "direct/rectangle/call") { count in
        var rectangle = SubjectRectangle(x: 1, y: 2, width: 3, height: 4)
        for _ in 0..<count {
          try rectangles.setArgument(rectangle, at: 2)
          unsafe try rectangles.invoke(using: moveCode)
          rectangle = try rectangles.result()
        }
        subject_use(Int64(rectangle.x))
      },
      Benchmark("invoke/ten/set1-result", over: "direct/ten/call") { count in
        var sum: Int64 = 0
        for index in 0..<Int64(count) {
          try ten.setArgument(index, at: 2)
          unsafe try ten.invoke(using: tenCode)
          sum &+= try ten.result(as: Int64.self)
        }
        subject_use(sum)
      },
    ]
  }
}
