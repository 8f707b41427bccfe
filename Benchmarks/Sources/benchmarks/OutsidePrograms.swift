// SPDX-License-Identifier: Apache-2.0
import CallBenchmarks
import Foundation

/// Other languages' ways to pass text to a C function. Each is a program of its own, which this
/// process starts after its own rows, and which measures itself in rounds.
enum OutsidePrograms {
  struct Way {
    let row: String
    let name: String
    /// Debian's package.
    let package: String
    let command: [String]
  }

  static let all = [
    Way(
      row: "text/python/ctypes", name: "Python's ctypes", package: "python3",
      command: ["python3", "-c", python(finding: ctypes)]),
    Way(
      row: "text/python/cffi", name: "Python's cffi", package: "python3-cffi",
      command: ["python3", "-c", python(finding: cffi)]),
    Way(
      row: "text/ruby/ffi", name: "Ruby's ffi", package: "ruby-ffi", command: ["ruby", "-e", ruby]),
  ]

  /// Measures the wanted rows. A program that fails is left out, with a line that says so.
  static func measure(
    _ isWanted: (String) -> Bool, over baseline: CallBenchmarks.Measurement?
  ) -> (rows: [CallBenchmarks.Measurement], skipped: [String]) {
    var rows: [CallBenchmarks.Measurement] = []
    var skipped: [String] = []
    for way in all where isWanted(way.row) {
      let words = Versions.output(way.command[0], Array(way.command.dropFirst()))?.split {
        $0.isWhitespace
      }
      if let words, words.count == 2, let minimum = Double(words[0]), let median = Double(words[1])
      {
        rows.append(
          CallBenchmarks.Measurement(
            name: way.row, over: baseline, minimum: minimum, median: median))
      } else {
        skipped.append(
          "\(way.name) is not installed, so its row is left out (Debian: \(way.package))")
      }
    }
    return (rows, skipped)
  }

  private static let ctypes = """
    import ctypes
    strlen = ctypes.CDLL(None).strlen
    strlen.argtypes, strlen.restype = [ctypes.c_char_p], ctypes.c_size_t
    """

  private static let cffi = """
    import cffi
    ffi = cffi.FFI()
    ffi.cdef("size_t strlen(const char *);")
    strlen = ffi.dlopen(None).strlen
    """

  /// A program that prints the least and the median time of a call, in nanoseconds. Text is Unicode
  /// in Python, so it is encoded for each call, as Swift's is copied.
  private static func python(finding strlen: String) -> String {
    strlen + """

      import time
      text = "x" * 15
      def round(count):
          start = time.perf_counter_ns()
          for _ in range(count):
              strlen(text.encode())
          return (time.perf_counter_ns() - start) / count
      assert strlen(text.encode()) == 15
      times = sorted(round(2000) for _ in range(200))
      print(times[0], times[100])
      """
  }

  private static let ruby = """
    require "ffi"
    module C
      extend FFI::Library
      ffi_lib FFI::CURRENT_PROCESS
      attach_function :strlen, [:string], :size_t
    end
    text = "x" * 15
    raise unless C.strlen(text) == 15
    times = (0...200).map do
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      index = 0
      while index < 2000
        C.strlen(text)
        index += 1
      end
      (Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - start) / 2000.0
    end.sort
    puts "#{times[0]} #{times[100]}"
    """
}
