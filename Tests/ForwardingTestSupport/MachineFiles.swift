// SPDX-License-Identifier: Apache-2.0
import Foundation
import TypeEncodings

/// Files that each machine has written, in `Tests/Data/Machines` where there are any, and that every machine reads.
///
/// `RECORD_GOLDENS` writes those of this machine. FORWARDING_EXCHANGE is another folder, in which
/// each run writes its own: `Scripts/aarch64-swift.sh` lets two machines read what the other wrote.
package enum MachineFiles {
  private static let exchange = ProcessInfo.processInfo.environment["FORWARDING_EXCHANGE"]

  private static var folder: URL {
    exchange.map { URL(fileURLWithPath: $0) }
      ?? Toolchain.package.appendingPathComponent("Tests/Data/Machines")
  }

  private static func file(_ machine: Machine, _ kind: String) -> URL {
    folder.appendingPathComponent("\(machine.rawValue).\(kind)")
  }

  /// The bytes of each machine: of this one those that it made now, of others their file. Writes the
  /// file of this machine, if this run records.
  package static func all(
    _ kind: String, own: [UInt8]
  ) throws -> [(machine: Machine, bytes: [UInt8])] {
    if exchange != nil || Toolchain.records {
      try Data(own).write(to: file(TestMachine.own, kind))
    }
    return try Machine.allCases.compactMap { machine in
      if machine == TestMachine.own { return (machine, own) }
      let file = file(machine, kind)
      guard FileManager.default.fileExists(atPath: file.path) else { return nil }
      return (machine, [UInt8](try Data(contentsOf: file)))
    }
  }
}
