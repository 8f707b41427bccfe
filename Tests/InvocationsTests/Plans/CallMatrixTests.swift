// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

/// Random signatures over every type of C, with callees that real compilers compiled.
///
/// `FORWARDING_SIGNATURES` is their number (150; `make check` takes 3,000) and
/// `FORWARDING_SEED` the first seed. A failure names the seed, the signature and the value.
@Suite("Random signatures")
struct CallMatrixTests {
  static let total = setting("FORWARDING_SIGNATURES", 150)
  static let seed = UInt64(setting("FORWARDING_SEED", 1))
  static let chunk = 50

  @Test(
    "calls are exact through both engines, with one frame for two targets, and in callbacks",
    arguments: 0..<(total + chunk - 1) / chunk)
  func exact(part: Int) throws {
    let count = min(Self.chunk, Self.total - part * Self.chunk)
    let seed = Self.seed &+ UInt64(part)
    let isShaped = seed % 3 == 0
    let matrix = try SignatureMatrix(
      count: count, seed: seed, style: isShaped ? .shaped : .ordinary)
    // Bit-fields, long doubles and unions, of which the conformance table has rows.
    for code in ["b0", "D", "("] where !isShaped && count == Self.chunk {
      #expect(matrix.encodings.contains { $0.contains(code) }, "seed \(seed) has no \(code)")
    }
    for compiler in [try CCompiler.system(), try CCompiler.clang()] {
      let compiled: SignatureMatrix.Compiled
      do {
        compiled = try matrix.compiled(by: compiler)
      } catch let failure as CCompiler.Failure where failure.isCrash {
        print("seed \(seed): \(compiler) crashed on the source; its callees are not compared")
        continue
      }
      for index in 0..<count {
        try check(matrix, compiled, index, "seed \(seed) \(compiler) \(matrix.encodings[index])")
      }
      // Of a signature for each compiler. Structures that compilers pass differently are rare; with
      // more of them, too little would be compared.
      let refused = Self.refused.withLock { $0[seed] ?? 0 }
      let shaped = TestMachine.value(x86_64: count, aarch64: 3 * count / 2)
      let ordinary = TestMachine.value(x86_64: count / 3, aarch64: 3 * count / 5)
      #expect(refused <= (isShaped ? shaped : max(20, ordinary)), "seed \(seed)")
      // A part compares some 60,000 bytes. A compiler loses a handful; with more, the test would
      // check too little.
      #expect(Self.lost.withLock { $0 } < 200)
    }
  }

  private func check(
    _ matrix: SignatureMatrix, _ compiled: SignatureMatrix.Compiled, _ index: Int, _ label: String
  ) throws {
    let signature = try MethodSignature(
      parsing: matrix.encodings[index], layouts: matrix.registered)
    let layouts = matrix.layouts[index]
    for (type, layout) in zip([signature.resultType] + signature.argumentTypes, layouts)
    where !type.isVoid {
      #expect(
        try type.layout == TypeLayout(size: layout.size, alignment: layout.alignment), "\(label)")
    }
    #expect(layouts.allSatisfy { $0.size <= SignatureMatrix.slot }, "\(label): too large to test")
    guard let plan = try planUnlessCompilersDisagree(signature, matrix.seed) else { return }
    var random = RandomCTypes(seed: UInt64(index), prefix: "")
    var masks = try layouts.indices.map { place in
      try compiled.mask(
        index, place: place, size: signature.isVoid(place) ? 0 : layouts[place].size)
    }
    let random8 = masks.map { mask in mask.map { $0 & random.byte() } }
    masks = try withoutCompilerLosses(compiled, index, random8, masks)
    let values = zip(random8, masks).map { zip($0, $1).map { $0 & $1 } }

    let call = Invocation(plan)
    for (argument, value) in values.dropFirst().enumerated() {
      try call.setArgument(bytes: value, at: argument)
      #expect(try call.argumentBytes(at: argument) == value, "\(label): set and get \(argument)")
    }
    /// Compares a value with the bytes that arrived at a place; place 0 is the result.
    func expect(_ place: Int, _ bytes: some Collection<UInt8>, _ way: String) {
      let arrived = zip(bytes, masks[place]).map { $0 & $1 }
      #expect(arrived == values[place], "\(label): \(way), place \(place)")
    }
    func received(_ way: String) throws {
      for place in values.indices.dropFirst() {
        let start = compiled.captured + compiled.offset(place - 1)
        expect(place, UnsafeRawBufferPointer(start: start, count: values[place].count), way)
      }
      if !values[0].isEmpty { try expect(0, call.resultBytes(), way) }
      memset(compiled.captured, 0, compiled.offset(values.count))
    }
    // One frame, two callees that overwrite their arguments, two engines.
    put(values[0], compiled.wanted)
    for name in ["f", "g"] {
      try call.invoke(using: compiled.callee(name, index))
      try received("direct \(name)")
      // libffi does not make calls that it would make wrong.
      if call.invokeThroughLibffi(using: try compiled.callee(name, index)) {
        try received("libffi \(name)")
      }
    }
    // The reverse direction: compiled code calls a function pointer that Swift implements. Callbacks
    // refuse object and C string results, because C would not free them.
    switch signature.resultType.kind {
    case .object, .cString: return
    default: break
    }
    give(values, compiled)
    let seen = Guarded<[[UInt8]]>([])
    let callback = try Callback(signature) { call in
      let all = try (0..<values.count - 1).map { try call.argumentBytes(at: $0) }
      seen.withLock { $0 = all }
      try call.setResult(bytes: values[0])
    }
    try compiled.drive(index, callback.address)
    let all = seen.withLock { $0 }
    #expect(all.count == values.count - 1, "\(label): callback")
    for (argument, bytes) in all.enumerated() { expect(argument + 1, bytes, "callback") }
    let returned = UnsafeRawBufferPointer(start: compiled.returned, count: values[0].count)
    expect(0, returned, "callback")
    withExtendedLifetime(callback) {}
  }

  private static let refused = Guarded<[UInt64: Int]>([:])

  private func planUnlessCompilersDisagree(
    _ signature: MethodSignature, _ seed: UInt64
  ) throws -> CallPlan? {
    do {
      return try CallPlan.shared(for: signature)
    } catch {
      guard case .encoding(let cause) = error, cause.reason == .compilersDisagree else {
        throw error
      }
      Self.refused.withLock { $0[seed, default: 0] += 1 }
      return nil
    }
  }

  /// Calls the compiled callee from the compiled driver, in plain C, and removes bits that do not
  /// arrive from the masks. clang 21 loses the upper half of a `double` in a union with `struct {
  /// float; long; }`, which no caller can avoid.
  private func withoutCompilerLosses(
    _ compiled: SignatureMatrix.Compiled, _ index: Int, _ values: [[UInt8]], _ masks: [[UInt8]]
  ) throws -> [[UInt8]] {
    var masks = masks
    give(values, compiled)
    try compiled.drive(index, compiled.callee("f", index))
    for (place, value) in values.enumerated() {
      let at = place == 0 ? compiled.returned : compiled.captured + compiled.offset(place - 1)
      for (byte, expected) in value.enumerated()
      where at.load(fromByteOffset: byte, as: UInt8.self) & masks[place][byte] != expected {
        masks[place][byte] = 0
        Self.lost.withLock { $0 += 1 }
      }
    }
    memset(compiled.captured, 0, compiled.offset(values.count))
    return masks
  }

  private static let lost = Guarded(0)

  /// Stores the values where the driver takes its arguments, and the callee its result.
  private func give(_ values: [[UInt8]], _ compiled: SignatureMatrix.Compiled) {
    put(values[0], compiled.wanted)
    for (argument, value) in values.dropFirst().enumerated() {
      put(value, compiled.given + compiled.offset(argument))
    }
  }

  private func put(_ bytes: [UInt8], _ destination: UnsafeMutableRawPointer) {
    destination.copyMemory(from: bytes, byteCount: bytes.count)
  }
}

extension MethodSignature {
  fileprivate func isVoid(_ place: Int) -> Bool { place == 0 && resultType.isVoid }
}
