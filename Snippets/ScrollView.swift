// SPDX-License-Identifier: Apache-2.0
// A scroll view has one delegate. A proxy turns it into two: the controller, and a behaviour that
// stretches the header.
import Forwarding
import Invocations

final class ScrollView: CallObject {
  static let didScroll = try! Message<NoResult, ScrollView>("scrollViewDidScroll:")
  var delegate: AnyObject?
  var offset = 0.0

  func scroll(to offset: Double) throws {
    self.offset = offset
    try Self.didScroll(self, on: delegate)
  }
}

final class Controller {}
final class StretchyHeader { var height = 100.0 }

try MethodTable.of(Controller.self).register("scrollViewDidScroll:") {
  (_: Controller, view: ScrollView) in
  print("controller sees offset \(view.offset)")
}
try MethodTable.of(StretchyHeader.self).register("scrollViewDidScroll:") {
  (header: StretchyHeader, view: ScrollView) in
  header.height = 100 - min(0, view.offset)
  print("header is \(header.height) high")
}

let controller = Controller()
let header = StretchyHeader()
let proxy = MulticastProxy()
proxy.add(controller)
proxy.add(header)

let view = ScrollView()
view.delegate = proxy
try view.scroll(to: 20)  // controller sees offset 20.0, header is 100.0 high
try view.scroll(to: -35)  // controller sees offset -35.0, header is 135.0 high
