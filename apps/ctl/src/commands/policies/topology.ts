import { getTopology, type Topology } from '@causeway/api';
import { Option, type Command } from 'commander';
import type { CommandContext } from '../../context';
import { meshOption, zoneOption, type SetExitCode } from '../../options';
import { inLines, joinGiven, structured } from '../../render';
import { policyText } from './policy-paths';
import { topologySvg, type DrawnGraph } from './topology-svg';

interface TopologyOptions {
  readonly mesh: string;
  readonly root?: string;
  readonly zone?: string;
  readonly output: 'json' | 'yaml' | 'dot' | 'svg';
}

/** `causeway topology`: the graph of policy targets, as data, in DOT, or as a picture. */
async function topology(context: CommandContext, { mesh, root, zone, output }: TopologyOptions): Promise<number> {
  const { rest } = await context.api();
  const path = { mesh: mesh || (await rest.expectedMesh()) };
  const query = { root, zone };
  if (output === 'dot') {
    context.print((await rest.text(getTopology, { path, query: { ...query, format: 'dot' } })).trimEnd());
    return 0;
  }
  const graph = await rest.call(getTopology, { path, query });
  context.print(output === 'svg' ? topologySvg(drawn(inLines(graph))) : structured(graph, output));
  if (graph.truncated) context.printError('the graph has more nodes: --root narrows it');
  return 0;
}

const layers = [
  'Mesh',
  'Namespace',
  'Gateway',
  'Listener',
  'Service',
  'ServicePort',
  'Route',
  'Rule',
  'Backend',
  'BackendPort',
  'Virtual',
];

function drawn(graph: Topology): DrawnGraph {
  const nodes = graph.nodes.map(({ id, level, namespace, name, section, policies }) => {
    const place = joinGiven([namespace, name], '/') || level;
    return {
      id: String(id),
      layer: Math.max(0, layers.indexOf(level)),
      lines: [section ? `${place}:${section}` : place, ...policies.map((policy) => policyText(policy))],
    };
  });
  const edges = graph.edges.map(({ from, to }) => ({ from: String(from), to: String(to) }));
  return { nodes, edges, layers };
}

/** `causeway topology`. */
export function registerTopology(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('topology')
    .description('shows the graph of what policies can name and what inherits from what')
    .addOption(meshOption())
    .option('--root <kind/namespace/name>', 'only what stands on the paths of this resource')
    .addOption(zoneOption('the zone where the root was made'))
    .addOption(
      new Option('-o, --output <form>', 'form of the output').choices(['yaml', 'json', 'dot', 'svg']).default('yaml'),
    )
    .action(async (options: TopologyOptions) => finish(await topology(context, options)));
}
