// SPDX-License-Identifier: Apache-2.0
// Changes that are not recorded.

extension UndoStack {
  /// Disables recording until ``enableRecording()`` has been called as often.
  ///
  /// During an awaited undo, calls made by its steps apply to those steps alone, and to the whole
  /// stack once the undo is over. Calls made by other tasks meanwhile apply to those tasks.
  public func disableRecording() { changeDisabled(by: 1) }

  /// Reverses one ``disableRecording()``.
  ///
  /// - Throws: ``UndoError/notDisabled`` if recording is enabled.
  public func enableRecording() throws(UndoError) {
    guard disabledDepth > 0 else { throw .notDisabled }
    changeDisabled(by: -1)
  }

  /// Whether recording is enabled for the caller.
  public var isRecordingEnabled: Bool { disabledDepth == 0 }

  /// Runs `body` with recording disabled.
  public func withoutRecording<Result>(_ body: () throws -> Result) rethrows -> Result {
    changeDisabled(by: 1)
    defer { changeDisabled(by: -1) }
    return try body()
  }

  /// Whether a record is ignored. A record made by an undo is ignored only if a step of that undo
  /// disabled recording: a rollback needs the others.
  var isIgnoring: Bool { records.isPlain ? false : isIgnoringNow }

  private var isIgnoringNow: Bool {
    if let inner { inner.disabledInside > 0 } else { disabledCount > 0 }
  }

  /// The undo in progress, if the caller is part of it.
  private var inner: UndoOperation? {
    if let performance, !performance.isElsewhere { performance } else { nil }
  }

  /// How many times recording is disabled for the caller.
  var disabledDepth: Int {
    inner.map { max(0, $0.disabledCount + $0.disabledInside) } ?? disabledCount
  }

  func changeDisabled(by count: Int) {
    if let inner {
      inner.disabledInside += count
    } else {
      disabledCount = max(0, disabledCount + count)
    }
    update()
  }
}
