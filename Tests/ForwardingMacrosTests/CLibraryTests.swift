// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Foundation
  import Invocations
  import Testing

  private typealias Length = @convention(c) (UnsafePointer<CChar>) -> Int

  @CLibrary("libc.so.6")
  private struct C {
    let strlen: Length
    @Symbol("abs") let magnitude: @convention(c) (Int32) -> Int32
    @Optional let abs: (@convention(c) (Int32) -> Int32)?
    @Optional @Symbol("no_such_function") var missing: Length? { didSet { _ = oldValue } }
    @Optional @Symbol("abs") let also: Optional<@convention(c) (Int32) -> Int32>
    private let `labs`: (@convention(c) (Int) -> Int)
    let version = 2
    static let limit = 3
    var doubled: Int { version * 2 }
    func absolute(_ number: Int) -> Int { labs(number) }
  }

  /// A structure inside of a type, which uses a type beside it.
  private enum Math {
    typealias Function = @convention(c) (Double) -> Double

    @CLibrary("libm.so.6")
    fileprivate struct Library: Sendable {
      let cos: Function
      let sqrt: Function, cbrt: Function
    }
  }

  enum Inside {
    @CLibrary("libc.so.6")
    public struct Wide {
      let abs: @convention(c) (Int32) -> Int32
    }
  }

  @unsafe
  @CLibrary("libc.so.6")
  private struct Unsafe {
    let strlen: @convention(c) (UnsafePointer<CChar>) -> Int
  }

  @CLibrary("libm.so.6")
  public struct Incomplete {
    let cos: @convention(c) (Double) -> Double
    let no_such_function: @convention(c) () -> Void
    @Symbol("neither") let second: @convention(c) () -> Void
    @Symbol("nor this") let third: @convention(c) () -> Void
    @Optional let optional: (@convention(c) () -> Void)?
  }

  @CLibrary("")
  private struct Program {
    let getpid: @convention(c) () -> Int32
  }

  @CLibrary("/nowhere/libnone.so")
  private struct Nowhere {
    let none: @convention(c) () -> Void
  }

  private typealias Byte = UInt8

  @CLibrary("libc.so.6")
  private struct Misdeclared {
    let strlen: Byte
  }

  @Suite("A C library as a structure")
  struct CLibraryTests {
    @Test(
      "the members are the functions of the library, under their names or others, or of a double")
    func functions() throws {
      let c = try C.load()
      #expect(c.strlen("four") == 4)
      #expect(c.magnitude(-3) == 3)
      #expect(c.absolute(-5) == 5)
      #expect(c.doubled == 4)
      let math = try Math.Library.load()
      #expect(math.cos(0) == 1)
      #expect(math.sqrt(4) + math.cbrt(27) == 5)
      let double = Math.Library(cos: { _ in 7 }, sqrt: { $0 }, cbrt: { -$0 })
      #expect(double.cos(0) == 7)
      #expect(double.cbrt(1) == -1)
      #expect(try Program.load().getpid() == getpid())
      #expect(try Inside.Wide.load().abs(-1) == 1)
      #expect(try Unsafe.shared.strlen("four") == 4)
      // An optional function that is missing is nil.
      #expect(c.abs?(-4) == 4)
      #expect(c.also?(-4) == 4)
      #expect(c.missing == nil)
    }

    @Test("one error has the library's file and the names of all missing functions")
    func missing() throws {
      let names = ["no_such_function", "neither", "nor this"]
      let error = try #require(throws: InvocationError.self) { try Incomplete.load() }
      guard case .symbolNotFound(names, "libm.so.6", let file?) = error else {
        throw error
      }
      #expect(FileManager.default.fileExists(atPath: file))
      #expect(
        "\(error)"
          == "'libm.so.6' (\(file)) has no symbols 'no_such_function', 'neither', 'nor this'")
      #expect(throws: error) { try Incomplete.shared }
      #expect(throws: error) { try Incomplete.shared }
    }

    @Test("a library that is not there, and a member of a size that no function has, are errors")
    func refused() {
      let error = #expect(throws: InvocationError.self) { try Nowhere.shared }
      #expect("\(error!)".hasPrefix("'/nowhere/libnone.so' could not be opened: "))
      #expect(throws: InvocationError.notACFunction(SwiftType(Byte.self))) {
        try Misdeclared.load()
      }
    }

    @Test("the shared structure serves any thread, also when several load it at once")
    func shared() async throws {
      let lengths = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<8 { group.addTask { try C.shared.strlen("four") } }
        return try await group.reduce(0, +)
      }
      #expect(lengths == 32)
    }

    private static let hasExpat = (try? Library("libexpat.so.1")) != nil

    @Test("the library stays open", .enabled(if: hasExpat, "no libexpat here"))
    func staysOpen() throws {
      // Nothing else in this process has it: if it were closed, it would be unmapped.
      #expect(String(cString: try Expat.load().XML_ExpatVersion()).hasPrefix("expat_"))
    }
  }

  @CLibrary("libexpat.so.1")
  private struct Expat {
    let XML_ExpatVersion: @convention(c) () -> UnsafePointer<CChar>
  }
#endif
