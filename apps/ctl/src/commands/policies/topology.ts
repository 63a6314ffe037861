import type { JsonObject } from '@causeway/resources';
import { Option, type Command } from 'commander';
import type { CommandContext } from '../../context';
import { meshOption, zoneOption, type SetExitCode } from '../../options';
import { listAt, structured, textAt } from '../../render';
import { policyText } from './policy-paths';
import { topologySvg, type DrawnGraph } from './topology-svg';

interface TopologyOptions {
  readonly mesh: string;
  readonly root?: string;
  readonly zone?: string;
  readonly output: 'json' | 'yaml' | 'dot' | 'svg';
}

/** `causeway topology`: the graph of what policies can name, as data, in DOT, or as a picture. */
async function topology(context: CommandContext, { mesh, root, zone, output }: TopologyOptions): Promise<number> {
  const { rest } = await context.api();
  const path = `/meshes/${encodeURIComponent(mesh || (await rest.expectedMesh()))}/topology`;
  const query = { root, zone };
  if (output === 'dot') {
    context.print((await rest.text({ path, query: { ...query, format: 'dot' } })).trimEnd());
    return 0;
  }
  const graph = await rest.json({ path, query });
  context.print(output === 'svg' ? topologySvg(drawn(graph)) : structured(graph, output));
  if (textAt(graph, 'truncated') === 'true') context.printError('the graph has more nodes: --root narrows it');
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

function drawn(graph: JsonObject): DrawnGraph {
  const nodes = listAt(graph, 'nodes').map((node) => {
    const [level, namespace, name, section] = ['level', 'namespace', 'name', 'section'].map((key) => textAt(node, key));
    const place = [namespace, name].filter(Boolean).join('/') || (level ?? '');
    return {
      id: textAt(node, 'id'),
      layer: Math.max(0, layers.indexOf(level ?? '')),
      lines: [section ? `${place}:${section}` : place, ...listAt(node, 'policies').map((policy) => policyText(policy))],
    };
  });
  const edges = listAt(graph, 'edges').map((edge) => ({ from: textAt(edge, 'from'), to: textAt(edge, 'to') }));
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
