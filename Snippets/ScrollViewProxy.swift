// SPDX-License-Identifier: Apache-2.0
// ScrollView with a protocol in place of a selector: the view still has one delegate, a proxy that
// stands for two.
import Forwarding

#if Macros
  @Forwardable
  protocol ScrollViewDelegate: AnyObject {
    func scrollViewDidScroll(_ view: ScrollView)
  }

  final class ScrollView {
    weak var delegate: (any ScrollViewDelegate)?
    private(set) var offset = 0.0

    func scroll(to offset: Double) {
      self.offset = offset
      delegate?.scrollViewDidScroll(self)
    }
  }

  final class Controller: ScrollViewDelegate {
    func scrollViewDidScroll(_ view: ScrollView) { print("controller sees offset \(view.offset)") }
  }

  final class StretchyHeader: ScrollViewDelegate {
    private(set) var height = 100.0
    func scrollViewDidScroll(_ view: ScrollView) {
      height = 100 - min(0, view.offset)
      print("header is \(height) high")
    }
  }

  let controller = Controller()
  let header = StretchyHeader()
  let delegates = Multicast<ScrollViewDelegateProxy>()
  delegates.add(controller)
  delegates.add(header)

  let view = ScrollView()
  view.delegate = delegates.proxy
  view.scroll(to: 20)  // controller sees offset 20.0, header is 100.0 high
  view.scroll(to: -35)  // controller sees offset -35.0, header is 135.0 high
#endif
