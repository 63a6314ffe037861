import type { PathNode, PolicyName, Topology } from '@causeway/api';

/** The graph of targets in DOT, the language of Graphviz. Every text is quoted. Linear in the graph. */
export function topologyDot({ mesh, nodes, edges, truncated }: Topology): string {
  return [
    `digraph ${quoted(mesh)} {`,
    '  rankdir=LR; node [shape=box, fontname=monospace];',
    ...(truncated ? ['  label="the graph has more nodes than this";'] : []),
    ...nodes.map((node) => `  n${node.id} [label=${quoted(nodeLines(node).join('\n'))}];`),
    ...edges.map(({ from, to }) => `  n${from} -> n${to};`),
    '}',
    '',
  ].join('\n');
}

/** Returns the description of a node, and the policies on it, a line each. */
function nodeLines({ policies, ...node }: PathNode & { readonly policies: readonly PolicyName[] }): readonly string[] {
  return [nodeText(node), ...policies.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`)];
}

/** `ServicePort store/foo:80`, with the zone if it is another one; only the level if the caller may not see more. */
function nodeText({ level, zone = '', namespace = '', name, section }: PathNode): string {
  if (name === undefined) return level;
  const place = level === 'Namespace' || level === 'Mesh' ? [name] : [zone, namespace, name];
  return `${level} ${place.filter(Boolean).join('/')}${section === undefined ? '' : `:${section}`}`;
}

/** Returns a string of DOT, in which only quotes and backslashes are special. */
const quoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
