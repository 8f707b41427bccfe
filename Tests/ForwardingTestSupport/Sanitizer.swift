// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A sanitizer that a test run may be built with. Its stack frames are larger than those of an
/// ordinary build.
public enum Sanitizer: String, Sendable {
  case address, thread

  /// The sanitizer of this test run.
  public static let current: Sanitizer? =
    if dlsym(nil, "__asan_init") != nil { .address } else if dlsym(nil, "__tsan_init") != nil {
      .thread
    } else { nil }

  /// The factor by which a test of deep recursion or small stacks must enlarge its stack.
  public static var stackFactor: Int { current == nil ? 1 : 4 }
}
