// Changes that leave nothing to undo.

extension UndoStack {
  /// Records nothing from here on, until ``enableRecording()`` was called as often.
  ///
  /// Where an undo is awaited, what its steps disable is disabled for them until it is over, and what others disable is
  /// so for them.
  public func disableRecording() { changeDisabled(by: 1) }

  /// Takes one ``disableRecording()`` back.
  public func enableRecording() throws(UndoError) {
    guard disabledDepth > 0 else { throw .notDisabled }
    changeDisabled(by: -1)
  }

  /// Whether records are kept.
  public var isRecordingEnabled: Bool { disabledDepth == 0 }

  /// Runs `body`, and records nothing meanwhile.
  public func withoutRecording<Result>(_ body: () throws -> Result) rethrows -> Result {
    changeDisabled(by: 1)
    defer { changeDisabled(by: -1) }
    return try body()
  }

  /// Whether a record is not kept. One that an undo makes is, for the case that it fails.
  var isIgnoring: Bool { records.isPlain ? false : isIgnoringNow }

  private var isIgnoringNow: Bool {
    if let inner { inner.disabledInside > 0 } else { disabledCount > 0 }
  }

  /// What is performed, if the caller is a part of it.
  private var inner: Performance? {
    if let performance, !performance.isElsewhere { performance } else { nil }
  }

  /// How often recording is disabled for the caller.
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
