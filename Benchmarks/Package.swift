// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import Foundation
import PackageDescription

// A peer is measured if it is installed. `make bench` installs all peers that it can, and lists the
// missing ones.
func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

let gccHeaders = (6...20).map { "/usr/lib/gcc/x86_64-linux-gnu/\($0)/include" }.last(where: isThere)
let hasGNUstep =
  isThere("/usr/include/GNUstep/Foundation/Foundation.h")
  && gccHeaders.map { isThere($0 + "/objc/objc.h") } == true
let hasGObject = isThere("/usr/include/glib-2.0/glib-object.h")
let hasBoost = isThere("/usr/include/boost/signals2.hpp")
let qtHeaders = "/usr/include/x86_64-linux-gnu/qt5"
// The rows measure the server, too, so it must be installed.
let hasNATS = isThere("/usr/include/nats/nats.h") && isThere("/usr/sbin/nats-server")
let hasSQLite = isThere("/usr/include/sqlite3.h")
let hasBus = isThere("/usr/include/systemd/sd-bus.h")
let hasQt = isThere(qtHeaders + "/QtCore/QSignalMapper")

var peers: [Target] = []
var libraries: [Target] = []
var defines: [SwiftSetting] = []

@MainActor
func add(_ target: Target, define: String) {
  libraries.append(target)
  peers.append(target)
  defines.append(.define(define))
}

if hasGNUstep, let gccHeaders {
  add(
    .target(
      name: "PeerGNUstep",
      cSettings: [
        .unsafeFlags([
          "-fobjc-runtime=gcc", "-fobjc-exceptions", "-fno-blocks",
          "-fconstant-string-class=NSConstantString", "-I/usr/include/GNUstep", "-I" + gccHeaders,
        ])
      ],
      linkerSettings: [.linkedLibrary("objc"), .linkedLibrary("gnustep-base")]),
    define: "HAS_GNUSTEP")
}
if hasGObject {
  libraries.append(.systemLibrary(name: "CGObject", pkgConfig: "gobject-2.0"))
  add(.target(name: "PeerGObject", dependencies: ["CGObject"]), define: "HAS_GOBJECT")
}
if hasBoost {
  add(.target(name: "PeerBoost"), define: "HAS_BOOST")
}
if hasNATS {
  add(.target(name: "PeerNATS", linkerSettings: [.linkedLibrary("nats")]), define: "HAS_NATS")
}
if hasSQLite {
  add(
    .target(name: "PeerSQLite", linkerSettings: [.linkedLibrary("sqlite3")]), define: "HAS_SQLITE")
}
if hasBus {
  add(.target(name: "PeerBus", linkerSettings: [.linkedLibrary("systemd")]), define: "HAS_BUS")
}
if hasQt {
  add(
    .target(
      name: "PeerQt",
      cxxSettings: [.unsafeFlags(["-I" + qtHeaders, "-I" + qtHeaders + "/QtCore", "-fPIC"])],
      linkerSettings: [.linkedLibrary("Qt5Core")]),
    define: "HAS_QT")
}

let package = Package(
  name: "benchmarks",
  dependencies: [
    .package(
      name: "swift-forwarding", path: "..",
      traits: hasNATS ? ["Macros", "NATS"] : ["Macros"])
  ],
  targets: libraries + [
    .systemLibrary(name: "CFFI", pkgConfig: "libffi"),
    .target(
      name: "PeerC",
      dependencies: ["CFFI", "BenchmarkSubjects"]),
    .target(
      name: "BenchmarkSubjects", path: "BenchmarkSubjects", publicHeadersPath: "include"),
    .target(
      name: "CallBenchmarks",
      dependencies: [
        .product(name: "Forwarding", package: "swift-forwarding"),
        .product(name: "ForwardingUndo", package: "swift-forwarding"),
        .product(name: "ForwardingTesting", package: "swift-forwarding"),
        .product(name: "ForwardingJournal", package: "swift-forwarding"),
        .product(name: "ForwardingRemote", package: "swift-forwarding"),
        "BenchmarkSubjects",
      ], path: "CallBenchmarks",
      swiftSettings: [
        // The trait of this name, which the dependency above has, is not defined in other packages.
        .define("Macros"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ]),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        .product(name: "Forwarding", package: "swift-forwarding"),
        "CallBenchmarks",
        .product(name: "ForwardingRemote", package: "swift-forwarding"),
        .product(name: "ForwardingNATS", package: "swift-forwarding"),
        "PeerC",
      ] + peers.map { .init(stringLiteral: $0.name) },
      swiftSettings: defines),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c17,
  cxxLanguageStandard: .cxx17
)
