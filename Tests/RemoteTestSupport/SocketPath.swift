// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A new path for a socket, in the folder for temporary files. It is short, because a socket's path
/// has a limit of about 100 bytes.
public func socketPath() -> String {
  FileManager.default.temporaryDirectory
    .appendingPathComponent("forwarding-\(UInt64.random(in: 0 ... .max))").path
}
