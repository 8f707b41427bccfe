// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import Foundation
import PackageDescription

func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

// GNUstep is measured if it is installed: it needs its own headers, and those of the Objective-C
// runtime, which are gcc's.
let runtimeHeaders = (6...20).map { "/usr/lib/gcc/x86_64-linux-gnu/\($0)/include" }
  .last { isThere($0 + "/objc/objc.h") }
let hasGNUstep = isThere("/usr/include/GNUstep/Foundation/Foundation.h") && runtimeHeaders != nil

// So is libffcall.
let hasFFCall = isThere("/usr/include/ffcall-version.h")

let package = Package(
  name: "benchmarks",
  dependencies: [.package(name: "swift-forwarding", path: "..")],
  targets: [
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        .product(name: "Forwarding", package: "swift-forwarding"),
        .product(name: "Invocations", package: "swift-forwarding"),
        .product(name: "TypeEncodings", package: "swift-forwarding"),
        .product(name: "ForwardingUndo", package: "swift-forwarding"),
        .product(name: "ForwardingTesting", package: "swift-forwarding"),
        "PeerC",
      ] + (hasGNUstep ? ["PeerGNUstep"] : []),
      swiftSettings: [
        // The default trait of this name is not defined in other packages.
        .define("Macros"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ] + (hasGNUstep ? [.define("HAS_GNUSTEP")] : [])),
    .systemLibrary(name: "CFFI", path: "Sources/CFFI", pkgConfig: "libffi"),
    .target(
      name: "PeerC", dependencies: ["CFFI"], cSettings: hasFFCall ? [.define("HAS_FFCALL")] : [],
      linkerSettings: hasFFCall ? [.linkedLibrary("callback")] : []),
  ]
    + (hasGNUstep
      ? [
        .target(
          name: "PeerGNUstep",
          cSettings: [
            .unsafeFlags([
              "-fobjc-runtime=gcc", "-fobjc-exceptions", "-fno-blocks",
              "-fconstant-string-class=NSConstantString", "-I/usr/include/GNUstep",
              "-I" + (runtimeHeaders ?? ""),
            ])
          ],
          linkerSettings: [.linkedLibrary("objc"), .linkedLibrary("gnustep-base")])
      ] : []),
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c17
)
