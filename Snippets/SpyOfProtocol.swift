// SPDX-License-Identifier: Apache-2.0
// A spy in place of a delegate: it answers, records calls, and reports unmet expectations. In a
// test the failures go to Swift Testing or XCTest; here they are printed.
import ForwardingTesting

#if Macros
  @Forwardable
  protocol DownloadDelegate: AnyObject {
    @Otherwise(true) func download(_ name: String, mayUse bytes: Int) -> Bool
    func download(_ name: String, didReach percent: Int)
    func downloadDidEnd(_ name: String)
  }

  final class Download {
    weak var delegate: (any DownloadDelegate)?

    func run(_ name: String, bytes: Int) {
      guard delegate?.download(name, mayUse: bytes) ?? true else { return }
      for percent in [50, 100] { delegate?.download(name, didReach: percent) }
      delegate?.downloadDidEnd(name)
    }
  }

  struct Printing: SpyReporter {
    func report(_ failure: SpyFailure) { print("line \(failure.place.line): \(failure)") }
  }

  let spy = Spy<DownloadDelegateProxy>(reportingTo: Printing())
  spy.messages.downloadMayUse.answer { _, bytes in bytes < 1000 }
  let download = Download()
  download.delegate = spy.proxy
  download.run("small", bytes: 10)
  download.run("large", bytes: 100_000)

  print(spy.messages.downloadDidReach.received.map(\.1))
  print(spy.messages.downloadMayUse.calls)
  let isInOrder = spy.verifyInOrder {
    $0.downloadMayUse.with("small", 10)
    $0.downloadDidReach.with("small", 100)
    $0.downloadDidEnd
  }
  print(isInOrder)
  spy.messages.downloadDidReach.with("small", 75).expect()
#endif
