// Shows `page` in a frame for each of `screens`, and writes what it measures in them as JSON.
// A frame has the color scheme of its element, and the width of a screen.
const frames = screens.map(screen => {
  const frame = document.createElement("iframe");
  frame.style.cssText = `border: 0; height: 800px; width: ${screen.width}px; color-scheme: ${screen.scheme}`;
  frame.srcdoc = page;
  document.body.append(frame);
  return frame;
});

onload = () => {
  const out = document.getElementById("measured");
  try {
    out.textContent = JSON.stringify(frames.map(measure));
  } catch (error) {
    out.textContent = `${error}: ${error.stack}`;
  }
};

function measure(frame) {
  const page = frame.contentDocument, view = frame.contentWindow;
  const all = (selector, root = page) => [...root.querySelectorAll(selector)];
  const look = element => view.getComputedStyle(element);
  const back = rgb(look(page.body).backgroundColor);
  // Tables behind charts are opened, so that they are measured as well.
  all("details").forEach(details => { details.open = true; });

  // A text of a picture, without the stroke around it.
  const box = text => {
    const inner = text.getBBox(), place = text.getScreenCTM();
    const left = inner.x + place.e, top = inner.y + place.f;
    return { text: text.textContent, left, top, right: left + inner.width, bottom: top + inner.height };
  };
  const overlapping = [], overflowing = [];
  for (const picture of all("svg.picture")) {
    const texts = all("text", picture).map(box);
    const outer = picture.getBoundingClientRect(), figure = picture.closest("figure").getBoundingClientRect();
    texts.forEach((a, index) => {
      for (const b of texts.slice(index + 1))
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
          overlapping.push(`${a.text} | ${b.text}`);
      if (a.left < figure.left - 0.5 || a.right > figure.right + 0.5) overflowing.push(a.text);
      if (a.top < outer.top - 0.5 || a.bottom > outer.bottom + 0.5) overflowing.push(a.text);
    });
  }
  for (const element of all("main *"))
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
        && !element.closest("svg") && !element.classList.contains("scroll"))
      overflowing.push(`<${element.localName}> ${element.textContent.slice(0, 40)}`);

  // Each faint color once, with the first text or drawing that has it.
  const faint = [], told = new Set();
  let textsCompared = 0, drawnCompared = 0;
  const compare = (element, color, least, what) => {
    const found = contrast(rgb(color), back);
    if (found >= least || told.has(color)) return;
    told.add(color);
    faint.push(`${what} ${color}: ${found.toFixed(2)}`);
  };
  for (const element of all("body *")) {
    const says = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const isDrawn = element.namespaceURI.endsWith("svg");
    if (!says || ["title", "desc", "style"].includes(element.localName)) continue;
    textsCompared++;
    compare(element, isDrawn ? look(element).fill : look(element).color, 4.5, element.textContent.slice(0, 30));
  }
  for (const element of all(".bar rect, rect.fast, rect.slow")) {
    drawnCompared++;
    compare(element, look(element).fill, 3, "a bar");
  }
  for (const element of all("line.curve")) {
    drawnCompared++;
    compare(element, look(element).stroke, 3, "a curve");
  }

  const charts = all("figure").map(figure => {
    const picture = figure.querySelector("svg.picture"), area = picture.getBoundingClientRect();
    const points = all("use", picture).map(point => point.getBoundingClientRect());
    const said = (picture.getAttribute("aria-labelledby") ?? "").split(" ").map(id => page.getElementById(id));
    return {
      title: figure.querySelector("figcaption").textContent,
      top: figure.getBoundingClientRect().top,
      bars: all(".bar", picture).map(bar => ({
        row: bar.dataset.row,
        isOurs: bar.classList.contains("ours"),
        name: bar.querySelector(".name").textContent,
        value: bar.querySelector(".value").textContent,
        width: bar.querySelector("rect").getBBox().width,
        color: look(bar.querySelector("rect")).fill,
      })),
      points: points.length,
      pieces: all("line.curve", picture).length,
      outside: points.filter(point => point.left < area.left || point.right > area.right
        || point.top < area.top || point.bottom > area.bottom).length,
      role: picture.getAttribute("role") ?? "",
      said: said.map(element => element.textContent).join("\n"),
      rowsOfTable: all("details tbody tr", figure).filter(row => row.querySelector("td")).length,
      axes: all(".axis-words", figure).map(words => words.textContent),
    };
  });
  return {
    isDark: view.matchMedia("(prefers-color-scheme: dark)").matches,
    width: view.innerWidth,
    charts,
    ids: all("[id]").map(element => element.id),
    overlapping, overflowing,
    pageWidth: page.documentElement.scrollWidth,
    faint, textsCompared, drawnCompared,
  };
}

// The numbers of a color that a browser computed.
function rgb(color) {
  const numbers = color.match(/[\d.]+/g)?.map(Number) ?? [];
  if (numbers.length < 3 || numbers[3] === 0) throw new Error(`no color: ${color}`);
  return numbers.slice(0, 3);
}

// The contrast of two colors as the guidelines for accessible pages define it, from 1 to 21.
function contrast(a, b) {
  const light = color => {
    const [red, green, blue] = color.map(value => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
