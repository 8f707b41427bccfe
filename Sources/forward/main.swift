// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// When a reader closes the pipe early, writes fail instead of killing the program with a signal.
_ = signal(SIGPIPE, SIG_IGN)
exit(Tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
