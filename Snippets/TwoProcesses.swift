// SPDX-License-Identifier: Apache-2.0
// An object of a protocol in one process, called from another over a Unix socket. In one shell run
// `swift run TwoProcesses host /tmp/weather`, and in another `swift run TwoProcesses call
// /tmp/weather`, which prints the values in its comments. Needs the trait `Macros`, the default.
import Forwarding

#if Macros
  import ForwardingRemote
  import Foundation

  @Forwardable
  protocol WeatherStation: AnyObject, Sendable {
    func temperature() async throws -> Double
    func forecast(for day: String) async throws -> String
  }

  /// An error whose number and text the caller gets.
  struct UnknownDay: RemoteFailure {
    let day: String
    var remoteCode: Int32 { 7 }
    var remoteText: String { "there is no forecast for \(day)" }
  }

  final class Station: WeatherStation {
    func temperature() -> Double { 21.5 }
    func forecast(for day: String) throws -> String {
      guard day == "tomorrow" else { throw UnknownDay(day: day) }
      return "rain"
    }
  }

  func host(at path: String) async throws {
    let transport = try UnixSocketTransport(listeningAt: path)
    let host = RemoteHost(transport, as: "north")
    try host.expose(Station(), as: WeatherStationProxy.self)
    print("the station is open")
    fflush(nil)
    while true { try await Task.sleep(for: .seconds(3600)) }
  }

  func call(at path: String) async throws {
    let transport = try UnixSocketTransport(connectedTo: path)
    let remote = try Remote<WeatherStationProxy>(transport, at: "north", deadline: .seconds(60))
    print(try await remote.proxy.temperature())  // 21.5
    print(try await remote.proxy.forecast(for: "tomorrow"))  // rain
    do {
      print(try await remote.proxy.forecast(for: "someday"))
    } catch {
      print(error)  // the target threw the error 7: there is no forecast for someday
    }
    transport.close()
  }

  switch CommandLine.arguments.dropFirst().first {
  case "host"?: try await host(at: CommandLine.arguments[2])
  case "call"?: try await call(at: CommandLine.arguments[2])
  default: print("TwoProcesses host PATH | call PATH")
  }
#endif
