import { topologySvg, type DrawnGraph } from './topology-svg';

const graph: DrawnGraph = {
  layers: ['Mesh', 'Service', 'Backend'],
  nodes: [
    { id: 'm', layer: 0, lines: ['default', 'RetryPolicy <a> & "b"'] },
    { id: 'a', layer: 1, lines: ['a'] },
    { id: 'b', layer: 1, lines: ['b'] },
    { id: 'x', layer: 2, lines: ['of a'] },
    { id: 'y', layer: 2, lines: ['of b'] },
  ],
  edges: [
    { from: 'm', to: 'a' },
    { from: 'm', to: 'b' },
    { from: 'a', to: 'y' },
    { from: 'b', to: 'x' },
  ],
};

/** The top of the box of each node, by the title that the picture has of it. */
const topOf = (svg: string, title: string): number =>
  Number(new RegExp(`<title>${title}</title><rect x="[0-9.]+" y="([0-9.]+)"`).exec(svg)?.[1]);

describe('the picture of a graph', () => {
  it('escapes all texts, and leaves out what XML cannot have', () => {
    const svg = topologySvg({
      ...graph,
      nodes: [...graph.nodes, { id: 'z', layer: 1, lines: ['</svg>\u0000<script>'] }],
    });
    expect(svg).toContain('RetryPolicy &lt;a&gt; &amp; &quot;b&quot;');
    expect(svg).toContain('&lt;/svg&gt;&lt;script&gt;');
    expect(svg).not.toMatch(/<script|\u0000/);
  });

  it('has a box for each node, a line for each edge, and few lines that cross', () => {
    const svg = topologySvg(graph);
    expect([svg.match(/<rect /g)?.length, svg.match(/<path /g)?.length]).toEqual([5, 4]);
    const isSameOrder = topOf(svg, 'a') < topOf(svg, 'b') === topOf(svg, 'of b') < topOf(svg, 'of a');
    expect(isSameOrder).toBe(true);
  });

  it('is the same each time, and one of nothing too', () => {
    expect(topologySvg(graph)).toBe(topologySvg(graph));
    expect(topologySvg({ layers: [], nodes: [], edges: [] })).toMatch(/^<svg [^>]*width="16"/);
  });
});
