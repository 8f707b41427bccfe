// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Foundation
public import Invocations
public import PeerC

/// Closures that C calls as functions. Every one, and the function in C beside it, adds a number that
/// it keeps, and is called by the same loop in C.
enum ClosureRows {
  static func all() throws -> [Benchmark] {
    // The compiler does not know the numbers.
    let (number, sign) = (Int64(CommandLine.arguments.count), Int32(CommandLine.argc.signum()))
    let fraction = Double(number)
    typealias Address = UnsafePointer<Int32>
    let two: peer_two = try held(Callback { (a: Int64, b: Int64) in a &+ b &+ number })
    let doubles: peer_doubles = try held(Callback { (a: Double, b: Double) in a + b + fraction })
    let pointers: peer_pointers = try held(
      Callback { (a: Address, b: Address) in unsafe (a.pointee - b.pointee) &* sign })
    let pair: peer_of_pair = try held(Callback { (a: peer_pair) in a.one &+ a.other &+ number })
    let sort = "C's `qsort` of 8 numbers with a"
    return [
      row("loop/two", "a function in C of 2 words") { peer_loop_two($0, peer_add_two) },
      row("loop/doubles", "the same of 2 doubles") { peer_loop_doubles($0, peer_add_doubles) },
      row("loop/pointers", "the same of 2 pointers") { peer_loop_pointers($0, peer_compare) },
      row("loop/pair", "the same of a structure") { peer_loop_pair($0, peer_add_pair) },
      row("callback/two", "a `Callback` of 2 words") { peer_loop_two($0, two) },
      row("callback/doubles", "a `Callback` of 2 doubles") { peer_loop_doubles($0, doubles) },
      row("callback/pointers", "a `Callback` of 2 pointers") { peer_loop_pointers($0, pointers) },
      row("callback/pair", "a `Callback` of a structure") { peer_loop_pair($0, pair) },
      row("scoped/two", "a closure in `withCallback`, of 2 words") { count in
        withCallback({ (a: Int64, b: Int64) in a &+ b &+ number }) { pointer, _ in
          unsafe peer_loop_two(count, pointer.function())
        }
      },
      row("scoped/pointers", "a closure in `withCallback`, of 2 pointers") { count in
        withCallback({ (a: Address, b: Address) in unsafe (a.pointee - b.pointee) &* sign }) {
          pointer, _ in unsafe peer_loop_pointers(count, pointer.function())
        }
      },
      Benchmark("qsort/c", "\(sort) function in C") { peer_sort($0, peer_compare) },
      Benchmark("qsort/callback", "\(sort) `Callback`", over: "qsort/c") {
        peer_sort($0, pointers)
      },
      Benchmark("qsort/scoped", "\(sort) `withCallback` each time", over: "qsort/c") { count in
        for _ in 0..<count {
          withCallback({ (a: Address, b: Address) in unsafe (a.pointee - b.pointee) &* sign }) {
            order, _ in unsafe peer_sort(1, order.function())
          }
        }
      },
    ] + peers()
  }

  /// A row that is compared with the loop of the same arguments.
  private static func row(
    _ name: String, _ what: String, _ body: @escaping (Int) throws -> Void
  ) -> Benchmark {
    Benchmark(name, what, over: "loop/" + name.drop { $0 != "/" }.dropFirst(), body)
  }

  /// The function of a callback that lives on.
  private static func held<Function>(_ callback: Callback) throws -> Function {
    _ = unsafe Unmanaged.passRetained(callback)
    return try unsafe callback.function(as: Function.self)
  }

  /// A row of 2 words with a closure of another library, which is loaded when the row first runs.
  private static func peer(
    _ name: String, _ what: String, _ package: String, _ make: @escaping () -> peer_two?
  ) -> Benchmark {
    var function: peer_two?
    return Benchmark("peer/\(name)", "a closure of \(what)", over: "loop/two") { count in
      function = function ?? make()
      guard let function else {
        throw InvocationError.libraryNotFound(path: name, reason: "Debian: \(package)")
      }
      peer_loop_two(count, function)
    }
  }

  private static func peers() -> [Benchmark] {
    [
      peer("ffi", "libffi", "libffi-dev", peer_ffi_closure),
      peer("ffcall", "libffcall", "libffcall-dev", peer_ffcall_closure),
      peer("luajit", "LuaJIT, by `ffi.cast`", "libluajit-5.1-2", luaJIT),
      peer("ctypes", "Python, by `ctypes.CFUNCTYPE`", "libpython3-dev") {
        python("one = ctypes.CFUNCTYPE(*[word] * 3)(f); found = ctypes.cast(one, pointer).value")
      },
      peer("cffi", "Python, by `ffi.callback` of cffi", "libpython3-dev python3-cffi") {
        python(
          "import cffi; other = cffi.FFI().callback('int64_t(int64_t, int64_t)', f); "
            + "found = int(cffi.FFI().cast('intptr_t', other))")
      },
    ]
  }

  /// The function whose address `run` has written to `place`; nil if it fails.
  private static func function(_ run: (_ place: UInt) -> Int32) -> peer_two? {
    var address: UInt = 0
    let status = withUnsafeMutablePointer(to: &address) { run(UInt(bitPattern: $0)) }
    return status == 0 ? unsafe unsafeBitCast(address, to: peer_two?.self) : nil
  }

  private static func luaJIT() -> peer_two? {
    guard let lua = try? unsafe LuaJIT.load(), let state = lua.luaL_newstate() else { return nil }
    lua.luaL_openlibs(state)
    return function { place in
      let code = """
        local ffi, kept = require "ffi", 1
        held = ffi.cast("int64_t(*)(int64_t, int64_t)", function(a, b) return a + b + kept end)
        ffi.cast("intptr_t *", \(place)LL)[0] = ffi.cast("intptr_t", held)
        """
      return lua.luaL_loadstring(state, code) + lua.lua_pcall(state, 0, 0, 0)
    }
  }

  private static func python(_ code: String) -> peer_two? {
    // Modules in C look for Python among the global symbols.
    _ = (8...20).last { dlopen("libpython3.\($0).so.1.0", RTLD_NOW | RTLD_GLOBAL) != nil }
    guard let python = try? unsafe Python.shared else { return nil }
    python.Py_InitializeEx(0)
    return function { place in
      python.PyRun_SimpleString(
        """
        from ctypes import c_int64 as word, c_void_p as pointer; import ctypes
        f, found = (lambda kept: lambda a, b: a + b + kept)(1), 0
        try: \(code)
        except ImportError: pass
        word.from_address(\(place)).value = found
        """)
    }
  }
}

@CLibrary("libluajit-5.1.so.2")
private struct LuaJIT {
  let luaL_newstate: @convention(c) () -> OpaquePointer?
  let luaL_openlibs: @convention(c) (OpaquePointer) -> Void
  let luaL_loadstring: @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> Int32
  let lua_pcall: @convention(c) (OpaquePointer, Int32, Int32, Int32) -> Int32
}

@CLibrary("")
private struct Python: Sendable {
  let Py_InitializeEx: @convention(c) (Int32) -> Void
  let PyRun_SimpleString: @convention(c) (UnsafePointer<CChar>) -> Int32
}

extension peer_pair: @retroactive CallStructure {
  public static var structure: VouchedStructure<Self> { unsafe VouchedStructure("{peer_pair=qq}") }
}
