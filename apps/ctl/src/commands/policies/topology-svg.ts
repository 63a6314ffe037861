/** A node of a layered graph; `layer` 0 is drawn at the left. */
interface DrawnNode {
  readonly id: string;
  readonly layer: number;
  /** The first line is emphasised. */
  readonly lines: readonly string[];
}

/** A graph to draw; edges lead to a later layer. */
export interface DrawnGraph {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
  /** The names of the layers, one for each. */
  readonly layers: readonly string[];
}

/** Sizes in px. The maximum width of a character in the font. */
const CHARACTER = 7;
const LINE = 16;
const PADDING = 8;
const GAP = { across: 60, down: 14 };
const HEAD = 30;
/** Maximum length of a line in a box, in characters; longer ones are truncated. */
const MAX_LINE_LENGTH = 48;
/** Number of sweeps that improve the order within the layers, from both sides. */
const SWEEPS = 4;

interface Box {
  readonly node: DrawnNode;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the graph as SVG: a column for each layer, with its boxes ordered so that few lines cross (each close to the middle of its neighbours).
 * Pure. Linear in nodes and edges, except for sorting. All texts are escaped.
 */
export function topologySvg(graph: DrawnGraph): string {
  const columns = orderedLayers(graph);
  const boxes = new Map<string, Box>();
  let x = PADDING;
  const heads: string[] = [];
  columns.forEach((column, layer) => {
    if (column.length === 0) return;
    const title = graph.layers[layer] ?? '';
    const width = Math.max(...[title, ...column.flatMap(({ lines }) => lines)].map(measureWidth)) + 2 * PADDING;
    heads.push(`<text class="layer" x="${x + PADDING}" y="${HEAD - 12}">${escaped(title)}</text>`);
    let y = HEAD;
    for (const node of column) {
      const height = node.lines.length * LINE + PADDING;
      boxes.set(node.id, { node, x, y, width, height });
      y += height + GAP.down;
    }
    x += width + GAP.across;
  });
  const height = Math.max(HEAD, ...[...boxes.values()].map((box) => box.y + box.height)) + PADDING;
  const width = Math.max(2 * PADDING, x - GAP.across + PADDING);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    STYLE,
    ...graph.edges.flatMap((edge) => drawLine(boxes.get(edge.from), boxes.get(edge.to))),
    ...heads,
    ...[...boxes.values()].map(drawBox),
    '</svg>',
  ].join('\n');
}

const STYLE =
  '<style>text{font:12px monospace;fill:#222}.layer{fill:#777}.first{font-weight:bold}rect{fill:#f6f8fa;stroke:#8aa}path{fill:none;stroke:#aab}</style>';

/** Returns the nodes of each layer from top to bottom. */
function orderedLayers({ nodes, edges }: DrawnGraph): readonly (readonly DrawnNode[])[] {
  const most = nodes.reduce((last, { layer }) => Math.max(last, layer), -1);
  const columns: DrawnNode[][] = Array.from({ length: most + 1 }, () => []);
  for (const node of nodes) columns[node.layer]?.push(node);
  const left = linked(edges.map(({ from, to }) => [to, from]));
  const right = linked(edges.map(({ from, to }) => [from, to]));
  const place = new Map<string, number>();
  const placeColumn = (column: readonly DrawnNode[]): void =>
    column.forEach(({ id }, i) => place.set(id, (i + 0.5) / column.length));
  columns.forEach(placeColumn);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForth = sweep % 2 === 0;
    const neighbours = isForth ? left : right;
    for (const column of isForth ? columns : [...columns].reverse()) {
      const middle = new Map(
        column.map(({ id }) => [id, averagePlace(neighbours.get(id) ?? [], place) ?? place.get(id) ?? 0]),
      );
      column.sort((a, b) => (middle.get(a.id) ?? 0) - (middle.get(b.id) ?? 0));
      placeColumn(column);
    }
  }
  return columns;
}

function linked(pairs: readonly (readonly [string, string])[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [one, other] of pairs) {
    const known = found.get(one);
    if (known) known.push(other);
    else found.set(one, [other]);
  }
  return found;
}

function averagePlace(ids: readonly string[], place: ReadonlyMap<string, number>): number | undefined {
  return ids.length === 0 ? undefined : ids.reduce((sum, id) => sum + (place.get(id) ?? 0), 0) / ids.length;
}

function drawLine(from: Box | undefined, to: Box | undefined): string[] {
  if (!from || !to) return [];
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x, to.y + to.height / 2];
  const bend = (x1 + x2) / 2;
  return [`<path d="M${x1},${y1} C${bend},${y1} ${bend},${y2} ${x2},${y2}"/>`];
}

function drawBox({ node, x, y, width, height }: Box): string {
  const lines = node.lines.map((line, i) => {
    const style = i === 0 ? ' class="first"' : '';
    return `<text${style} x="${x + PADDING}" y="${y + (i + 1) * LINE - 2}">${escaped(shortened(line))}</text>`;
  });
  return `<g><title>${escaped(node.lines.join('\n'))}</title><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4"/>${lines.join('')}</g>`;
}

const shortened = (line: string): string =>
  line.length <= MAX_LINE_LENGTH ? line : `${line.slice(0, MAX_LINE_LENGTH - 1)}…`;
const measureWidth = (line: string): number => CHARACTER * Math.min(line.length, MAX_LINE_LENGTH) * 1.05;

/** Escapes a text for XML 1.0; characters that XML does not allow are removed. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
