/// The files that a journal was put aside into.
enum JournalFiles {
  static func nextSequence(before path: String) throws(JournalError) -> UInt64 { 1 }
}
extension Journal {
  func rotate(ifAtLeast size: Int) throws(JournalError) {}
}
