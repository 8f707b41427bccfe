// SPDX-License-Identifier: Apache-2.0
import FuzzObjects

import Glibc

// fuzz TARGET [LIBFUZZER'S OPTION…] [CORPUS…]: runs libFuzzer with one of the package's targets.

@_extern(c, "LLVMFuzzerRunDriver")
func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

func complain(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
}

/// Set once, before libFuzzer runs.
nonisolated(unsafe) var target = FuzzTarget.encodings

// For a merge, libFuzzer starts this program again with its own arguments, so the name of the
// target is passed on in the environment.
var given = CommandLine.arguments
if getenv("FUZZ_TARGET") == nil, given.count > 1 { setenv("FUZZ_TARGET", given.remove(at: 1), 1) }
guard let name = getenv("FUZZ_TARGET"), let chosen = FuzzTarget(rawValue: String(cString: name))
else {
  let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: " | ")
  complain("usage: fuzz \(names) [OPTION…] [CORPUS…]")
  exit(64)
}
target = chosen
var arguments = given.map { strdup($0) }
arguments.append(nil)
var count = CInt(arguments.count - 1)
let code = arguments.withUnsafeMutableBufferPointer { buffer in
  buffer.withMemoryRebound(to: UnsafeMutablePointer<CChar>?.self) { arguments in
    var start = arguments.baseAddress!
    return withUnsafeMutablePointer(to: &start) { start in
      runDriver(&count, start) { bytes, size in
        do {
          try target.run([UInt8](UnsafeBufferPointer(start: bytes, count: size)))
        } catch {
          complain("\(target.rawValue): \(error)")
          abort()
        }
        return 0
      }
    }
  }
}
exit(code)
