// SPDX-License-Identifier: Apache-2.0
extension Report {
  /// The style of the page. Text has a contrast of at least 4.5 to its background, in light and
  /// dark mode.
  static let style = """
    :root { color-scheme: light dark; --text: #1c1e21; --quiet: #5c6168; --back: #ffffff;
      --line: #d9dce1; --ours: #0b5cbd; --other: #8d939b; --fast: #1a7f37; --slow: #b3600a;
      --k0: #0b5cbd; --k1: #b8440a; --k2: #1a7f37; --k3: #8038b8; --k4: #a8125f; --k5: #00707a;
      --k6: #6f5c00; --k7: #4a4f57; }
    @media screen and (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --quiet: #a0a7b1;
      --back: #14161a; --line: #363b43; --ours: #6cb0ff; --other: #7d848e; --fast: #4ac26b;
      --slow: #e0a13c; --k0: #6cb0ff; --k1: #ff9a62; --k2: #4ac26b; --k3: #cf9bff; --k4: #ff8fc4;
      --k5: #4fc8d4; --k6: #d6bf4a; --k7: #b4bac4; } }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--back); color: var(--text);
      font: 15px/1.5 system-ui, sans-serif; }
    main { max-width: 72rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
    h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .5rem; }
    h2 { font-size: 1.2rem; margin: 2.4rem 0 .8rem; }
    p { max-width: 46rem; margin: 0 0 .5rem; }
    .machine, .note, .axis-words, summary { color: var(--quiet); font-size: .85rem; }
    ul.note { margin: 0 0 .5rem; padding-left: 1.1rem; }
    .comparisons, .curves { display: grid; gap: 2.2rem 2.4rem; align-items: start;
      grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); }
    .curves { grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
    figure { margin: 0; min-width: 0; break-inside: avoid; }
    figcaption { font-weight: 600; font-size: 1.05rem; }
    .picture { display: block; overflow: visible; margin-top: .3rem; }
    .growth .picture { padding: 10px 16px 0 46px; }
    .across { text-align: center; max-width: none; padding-left: 30px; }
    svg text { font-size: 12.5px; fill: var(--text); font-variant-numeric: tabular-nums;
      paint-order: stroke; stroke: var(--back); stroke-width: 4px; stroke-linejoin: round; }
    svg .part { font-weight: 600; } svg .tick { fill: var(--quiet); font-size: 12px; }
    .bar rect { fill: var(--other); } .bar.ours rect { fill: var(--ours); }
    .bar.ours text { fill: var(--ours); font-weight: 600; }
    .grid { stroke: var(--line); }
    .curve { stroke-width: 2; stroke: currentColor; stroke-linecap: round; }
    .full { fill: currentColor; } .hollow { fill: var(--back); stroke: currentColor; stroke-width: 2; }
    .k0 { color: var(--k0); } .k1 { color: var(--k1); } .k2 { color: var(--k2); }
    .k3 { color: var(--k3); } .k4 { color: var(--k4); } .k5 { color: var(--k5); }
    .k6 { color: var(--k6); } .k7 { color: var(--k7); }
    .shapes { position: absolute; }
    .legend { list-style: none; margin: 0 0 .4rem; padding: 0; display: flex; flex-wrap: wrap;
      gap: .1rem 1.1rem; font-size: .85rem; }
    .legend li { display: flex; gap: .4rem; align-items: center; } .legend svg { flex: none; }
    summary { cursor: pointer; } details[open] summary { margin-bottom: .3rem; }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; min-width: 100%; font-variant-numeric: tabular-nums; }
    th, td { text-align: right; padding: .22rem .7rem .22rem 0; border-bottom: 1px solid var(--line);
      white-space: nowrap; font-weight: 400; }
    thead th { color: var(--quiet); font-size: .85rem; }
    th.name, td.name { text-align: left; } .quiet { color: var(--quiet); }
    details table { font-size: .85rem; } th[scope=rowgroup] { font-weight: 600; padding-top: .9rem; }
    tr.ours td { color: var(--ours); font-weight: 600; }
    th[scope=row] { position: sticky; left: 0; background: var(--back); }
    td.drawn { width: 12.5rem; padding-left: .6rem; } td svg { display: block; }
    .fast { fill: var(--fast); } .slow { fill: var(--slow); }
    .mark { stroke: var(--text); } .more { fill: none; stroke: var(--quiet); stroke-width: 1.5; }
    :focus-visible { outline: 2px solid var(--ours); outline-offset: 2px; }
    @media print { main { padding: 0; max-width: none; } body { font-size: 10pt; }
      h2, figcaption { break-after: avoid; } tr { break-inside: avoid; } .scroll { overflow: visible; }
      details:not([open]) { display: none; } th[scope=row] { position: static; } }
    """
}
