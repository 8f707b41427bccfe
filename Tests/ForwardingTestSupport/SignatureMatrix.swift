// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TypeEncodings

/// Random C functions, compiled by a real compiler, that record the arguments they receive.
///
/// For each signature there are two callees and a driver. A callee copies its parameters into
/// `captured`, overwrites them, and returns the contents of `wanted`. The driver loads arguments
/// from `given`, calls a function pointer, and leaves the result in `returned`. Compiling with
/// `ONLY_CALLS` leaves out the second callees and the masks; `ONLY_MASKS` leaves only the masks.
/// The encodings are clang's `@encode` of the declarations.
public final class SignatureMatrix: @unchecked Sendable {
  public struct Signature: Sendable {
    public let result: RandomCType?
    public let arguments: [RandomCType]
    /// The number of arguments before the `...` of a variadic function; nil for all others.
    public var fixedCount: Int?

    /// The types of the result and the arguments, without that of a function that returns nothing.
    var types: [RandomCType] { [result].compactMap(\.self) + arguments }
  }

  /// The kind of types in the signatures.
  public enum Style: Sendable {
    case ordinary
    /// Short lists of structures with attributes, where compilers differ most.
    case shaped
    /// Types that AArch64 passes by special rules.
    case composites
    /// The types of `composites` after the `...` of variadic functions.
    case variadic
  }

  public let seed: UInt64
  public let signatures: [Signature]
  /// The encoding of each signature, the result first.
  public let encodings: [String]
  /// The layouts that encodings do not determine, according to clang: of packed and aligned
  /// structures.
  public let registered: StructureLayouts
  /// The size and alignment of the result and each argument of each signature, according to clang.
  public let layouts: [[(size: Int, alignment: Int)]]
  public let source: String

  /// The distance between arguments in the buffers, and so the largest size of a value.
  public static let slot = 4096

  /// `options` are passed to the compiler that prints the encodings.
  public init(
    count: Int, seed: UInt64, style: Style = .ordinary, options: [String] = []
  ) throws {
    var types = RandomCTypes(seed: seed, prefix: "T\(seed)_")
    let signatures = (0..<count).map { index in
      switch style {
      case .ordinary: types.ordinarySignature(index)
      case .shaped: types.shapedSignature()
      case .composites: types.signatureOfComposites(index)
      case .variadic: types.variadicSignature()
      }
    }
    self.seed = seed
    self.signatures = signatures
    let definitions = signatures.flatMap(\.types).map(\.definitions).joined()
    (encodings, layouts, registered) = try Self.facts(definitions, signatures, options)
    source =
      Self.prelude + definitions + Self.claims(signatures, registered)
      + signatures.enumerated().map { Self.functions($0, $1) }.joined()
  }

  /// Assertions that every compiler lays out the attributed structures as clang does.
  private static func claims(_ signatures: [Signature], _ registered: StructureLayouts) -> String {
    signatures.flatMap(\.types).flatMap(\.shaped).compactMap { aggregate in
      let name = RandomCType.aggregate(aggregate).spelling
      return registered[aggregate.name].map {
        "_Static_assert(sizeof(\(name)) == \($0.size), \"size\");\n"
          + "_Static_assert(_Alignof(\(name)) == \($0.alignment), \"alignment\");\n"
      }
    }.joined()
  }

  private static let prelude = """
    #include <stdarg.h>
    #include <string.h>
    // How many bytes of a long double carry its value.
    #define QUAD (__LDBL_MANT_DIG__ == 64 ? 10 : 16)
    typedef void fn(void);
    #ifndef ONLY_MASKS
    unsigned char captured[1100000], wanted[4096], given[1100000], returned[4096];
    __attribute__((noinline)) void scribble(void *p, unsigned long n) { memset(p, 0xA5, n); }
    void (*volatile scribbler)(void *, unsigned long) = scribble;
    #endif

    """

  private static func functions(_ index: Int, _ signature: Signature) -> String {
    let result = signature.result?.spelling ?? "void"
    let all = signature.arguments
    let fixed = signature.fixedCount ?? all.count
    let dots = fixed < all.count ? ["..."] : []
    let parameters = all.prefix(fixed).enumerated().map { "\($1.spelling) a\($0)" } + dots
    let list = parameters.isEmpty ? "void" : parameters.joined(separator: ", ")
    let types = (all.prefix(fixed).map(\.spelling) + dots).joined(separator: ", ")
    let others = all.indices.dropFirst(fixed).map {
      "\(all[$0].spelling) a\($0) = va_arg(list, \(all[$0].spelling)); "
    }
    let fetch = others.isEmpty ? "" : "va_list list; va_start(list, a\(fixed - 1)); "
    var text = "#ifndef ONLY_MASKS\n"
    for name in ["f", "g"] {
      text += "\(result) \(name)_\(index)(\(list)) { \(fetch)\(others.joined())"
      for argument in signature.arguments.indices {
        text += "memcpy(captured + \(argument * slot), &a\(argument), sizeof a\(argument)); "
      }
      for argument in signature.arguments.indices {
        text += "scribbler(&a\(argument), sizeof a\(argument)); "
      }
      if signature.result != nil {
        text += "\(result) r; memcpy(&r, wanted, sizeof r); return r; "
      }
      text += "}\n"
      if name == "f" { text += "#ifndef ONLY_CALLS\n" }
    }
    text += "#endif\nvoid drive_\(index)(void *p) { "
    for (argument, type) in signature.arguments.enumerated() {
      text += "\(type.spelling) a\(argument); memcpy(&a\(argument), given + \(argument * slot), "
      text += "sizeof a\(argument)); "
    }
    let call =
      "((\(result)(*)(\(types.isEmpty ? "void" : types)))p)("
      + signature.arguments.indices.map { "a\($0)" }.joined(separator: ", ") + ")"
    text +=
      signature.result == nil
      ? "\(call); }\n" : "\(result) r = \(call); memcpy(returned, &r, sizeof r); }\n"
    text += "#endif\n#ifndef ONLY_CALLS\n"
    // The bytes that carry a value: of the result at 0, of argument n at n + 1.
    text += "void mask_\(index)(int which, unsigned char *out) { "
    for (place, type) in ([signature.result] + signature.arguments).enumerated() {
      guard let type else { continue }
      text += "if (which == \(place)) { \(type.spelling) v; memset(&v, 0, sizeof v); "
      text += type.maskStatements("v") + "memcpy(out, &v, sizeof v); } "
    }
    return text + "}\n#endif\n"
  }

  private static func facts(
    _ definitions: String, _ signatures: [Signature], _ options: [String]
  ) throws -> ([String], [[(size: Int, alignment: Int)]], StructureLayouts) {
    // The Objective-C runtime is not linked; only @encode is needed.
    var text = "void __objc_load(void *p) {}\ntypedef void fn(void);\n" + definitions
    text += "struct fact { const char *encoding; unsigned long size, alignment; };\n"
    text += "const struct fact facts[] = {\n"
    for signature in signatures {
      for type in [signature.result] + signature.arguments {
        let name = type?.spelling ?? "void"
        text += "{@encode(\(name)), sizeof(\(name)), _Alignof(\(name))},\n"
      }
    }
    text += "};\nconst struct fact *fact_at(long i) { return &facts[i]; }\n"
    let shaped = signatures.flatMap(\.types).flatMap(\.shaped)
    text += Self.shapes(shaped)
    let path = try CCompiler.clang().library(
      text, language: "objective-c", options: options + ["-O0", "-fobjc-runtime=gnustep-2.0"])
    let library = try CompiledLibrary(path)
    typealias Fact = (encoding: UnsafePointer<CChar>, size: Int, alignment: Int)
    typealias Look = @convention(c) (Int) -> UnsafeRawPointer
    let look = try library.function("fact_at", as: Look.self)
    var index = 0
    let facts = signatures.map { signature in
      (0...signature.arguments.count).map { _ in
        defer { index += 1 }
        return look(index).load(as: Fact.self)
      }
    }
    return (
      facts.map { $0.map { String(cString: $0.encoding) }.joined() },
      facts.map { $0.map { ($0.size, $0.alignment) } }, try Self.layouts(shaped, in: library)
    )
  }

  /// C functions that write the size, alignment and offsets of structures into an array.
  private static func shapes(_ shaped: [RandomCType.Aggregate]) -> String {
    var text = "void *memset(void *, int, unsigned long);\n"
    for (index, aggregate) in shaped.enumerated() {
      let name = RandomCType.aggregate(aggregate).spelling
      text += "void shape_\(index)(long *out) { *out++ = sizeof(\(name)); "
      text += "*out++ = _Alignof(\(name)); "
      for member in aggregate.members {
        if member.bits == nil {
          text += "*out++ = __builtin_offsetof(\(name), \(member.name)); "
        } else {
          // C has no offset of a bit-field: find the first byte that it changes.
          text += "{ \(name) v; memset(&v, 0, sizeof v); v.\(member.name) = ~0ull; long n = 0; "
          text += "while (!((unsigned char *)&v)[n]) n++; *out++ = n; } "
        }
      }
      text += "}\n"
    }
    return text
  }

  private static func layouts(
    _ shaped: [RandomCType.Aggregate], in library: CompiledLibrary
  ) throws -> StructureLayouts {
    var result = StructureLayouts()
    for (index, aggregate) in shaped.enumerated() {
      typealias Shape = @convention(c) (UnsafeMutablePointer<Int>) -> Void
      var numbers = [Int](repeating: 0, count: aggregate.members.count + 2)
      try library.function("shape_\(index)", as: Shape.self)(&numbers)
      result[aggregate.name] = .init(
        size: numbers[0], alignment: numbers[1], fieldOffsets: Array(numbers[2...]))
    }
    return result
  }

  // MARK: Compiled functions

  /// The functions, compiled by one compiler.
  public final class Compiled: @unchecked Sendable {
    public let captured: UnsafeMutableRawPointer
    public let wanted: UnsafeMutableRawPointer
    public let given: UnsafeMutableRawPointer
    public let returned: UnsafeMutableRawPointer
    private let library: CompiledLibrary

    init(_ path: String) throws {
      library = try CompiledLibrary(path)
      captured = try UnsafeMutableRawPointer(mutating: library.address("captured"))
      wanted = try UnsafeMutableRawPointer(mutating: library.address("wanted"))
      given = try UnsafeMutableRawPointer(mutating: library.address("given"))
      returned = try UnsafeMutableRawPointer(mutating: library.address("returned"))
    }

    public func callee(_ name: String, _ index: Int) throws -> UnsafeRawPointer {
      try library.address("\(name)_\(index)")
    }

    public func drive(_ index: Int, _ function: UnsafeRawPointer) throws {
      typealias Drive = @convention(c) (UnsafeRawPointer) -> Void
      try library.function("drive_\(index)", as: Drive.self)(function)
    }

    /// The bits that carry a value; place 0 is the result.
    public func mask(_ index: Int, place: Int, size: Int) throws -> [UInt8] {
      typealias Mask = @convention(c) (Int32, UnsafeMutablePointer<UInt8>) -> Void
      var bytes = [UInt8](repeating: 0, count: max(size, 1))
      try library.function("mask_\(index)", as: Mask.self)(Int32(place), &bytes)
      return Array(bytes.prefix(size))
    }

    /// The offset of argument `index` in `captured` and `given`.
    public func offset(_ index: Int) -> Int { index * SignatureMatrix.slot }
  }

  public func compiled(by compiler: CCompiler) throws -> Compiled {
    try Compiled(compiler.library(source, options: ["-O2"]))
  }
}

/// A library that a test compiled.
public final class CompiledLibrary: @unchecked Sendable {
  private let handle: UnsafeMutableRawPointer

  public init(_ path: String) throws {
    guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
      throw CCompiler.Failure(description: String(cString: dlerror()))
    }
    self.handle = handle
    // The library is mapped, so the folder is not needed any more.
    try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent())
  }

  deinit { dlclose(handle) }

  public func address(_ symbol: String) throws -> UnsafeRawPointer {
    guard let address = dlsym(handle, symbol) else {
      throw CCompiler.Failure(description: "no symbol \(symbol)")
    }
    return UnsafeRawPointer(address)
  }

  public func function<Function>(_ symbol: String, as type: Function.Type) throws -> Function {
    unsafeBitCast(try address(symbol), to: type)
  }
}
