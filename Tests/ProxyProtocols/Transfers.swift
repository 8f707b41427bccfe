// SPDX-License-Identifier: Apache-2.0
#if Macros
  public import Forwarding

  // Delegates in the shape of a library for network transfers: each protocol inherits the one
  // before, nearly all requirements are optional, and answers go to completion closures.

  public final class TransferSession: Sendable {
    public init() {}
  }

  public class TransferTask: @unchecked Sendable {
    public let number: Int
    public init(_ number: Int) { self.number = number }
  }

  public final class DownloadTask: TransferTask, @unchecked Sendable {}

  public enum ChallengeAnswer: Sendable { case proceed, cancel }

  @Forwardable
  public protocol TransferSessionDelegate: AnyObject, Sendable {
    @Optional func session(
      _ session: TransferSession, didBecomeInvalidWith error: (any Error)?)
    @Optional func session(
      _ session: TransferSession, didReceiveChallenge host: String,
      completion: @escaping @Sendable (ChallengeAnswer, String?) -> Void)
  }

  @Forwardable
  public protocol TransferTaskDelegate: TransferSessionDelegate {
    @Optional func session(
      _ session: TransferSession, task: TransferTask, didSend bytes: Int64, total: Int64,
      expected: Int64)
    @Optional func session(
      _ session: TransferSession, task: TransferTask, didCompleteWith error: (any Error)?)
  }

  @Forwardable
  public protocol DownloadDelegate: TransferTaskDelegate {
    func session(
      _ session: TransferSession, download: DownloadTask, didFinishAt path: String)
    @Optional func session(
      _ session: TransferSession, download: DownloadTask, didWrite bytes: Int64, total: Int64)
  }
#endif
