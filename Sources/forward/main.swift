// SPDX-License-Identifier: Apache-2.0
import Foundation

// When a reader closes the pipe early, writes fail instead of killing the program with a signal.
_ = signal(SIGPIPE, SIG_IGN)
let code = Tool.run(Array(CommandLine.arguments.dropFirst()))
// Output that lacks its end must not count as whole. A closed pipe has had enough of it.
if fflush(nil) != 0, errno != EPIPE {
  let reason = unsafe String(cString: strerror(errno))
  Terminal.error("forward: the output cannot be written: \(reason)")
  exit(ExitCode.failed.rawValue)
}
exit(code.rawValue)
