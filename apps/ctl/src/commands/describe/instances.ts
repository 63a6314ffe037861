import { ApiError } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { chooseColour } from '../../colour';
import { requireKind, type CommandContext } from '../../context';
import { meshOption, namespaceOption, outputOption, zoneOption, type SetExitCode } from '../../options';
import { refTo, parseSelections, type Reference } from '../../refs';
import { age, listAt, objectAt, structured, table, textAt, type Output } from '../../render';
import { inboundText, readiness } from '../get/columns';

/** An instance of a service: a Dataplane, or an endpoint outside the mesh. */
export type Instance = {
  readonly name: string;
  readonly zone: string;
  readonly state: string;
  readonly address: string;
  readonly serves: readonly string[];
  readonly creationTime: string;
};

/** Returns the instances of a MeshService, of the members of a MeshMultiZoneService, or of a MeshExternalService. */
export async function listInstances(context: CommandContext, service: JsonObject): Promise<readonly Instance[]> {
  const type = textAt(service, 'type');
  if (type === 'MeshExternalService') return listAt(objectAt(service, 'spec'), 'endpoints').map(endpoint);
  if (type === 'MeshService') return listDataplanes(context, service);
  const parts = listAt(objectAt(service, 'status'), 'meshServices').map((part) => {
    const [mesh, zone, namespace, name] = ['mesh', 'zone', 'namespace', 'name'].map((key) => textAt(part, key));
    return { mesh: mesh ?? '', zone: zone ?? '', namespace: namespace ?? '', name: name ?? '' };
  });
  const found: Instance[] = [];
  for (const part of parts) {
    const document = await findPart(context, part);
    if (document) found.push(...(await listDataplanes(context, document)));
  }
  return found;
}

function endpoint(each: JsonObject): Instance {
  const address = [textAt(each, 'address'), textAt(each, 'port')].filter((part) => part !== '').join(':');
  return { name: '-', zone: '-', state: 'Unknown', address, serves: [], creationTime: '' };
}

/** Returns a member MeshService of a MeshMultiZoneService; undefined if it is gone. */
async function findPart(context: CommandContext, { name, ...place }: Reference): Promise<JsonObject | undefined> {
  const kind = requireKind(context.registry, 'MeshService');
  try {
    return (await (await context.api()).get(refTo({ kind, name }, place))).document;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not-found') return undefined;
    throw error;
  }
}

/** Returns the Dataplanes that a MeshService selects, with their state. */
async function listDataplanes(context: CommandContext, service: JsonObject): Promise<readonly Instance[]> {
  const { selectedBy } = await import('./dataplane-selection.js');
  return (await selectedBy(context, service)).map(dataplaneInstance);
}

function dataplaneInstance(dataplane: JsonObject): Instance {
  const networking = objectAt(dataplane, 'spec', 'networking');
  return {
    name: textAt(dataplane, 'name'),
    zone: textAt(dataplane, 'labels', 'kuma.io/zone'),
    state: readiness(dataplane),
    address: textAt(networking, 'address'),
    serves: listAt(networking, 'inbound').map(inboundText),
    creationTime: textAt(dataplane, 'creationTime'),
  };
}

/** Formats instances as a table. */
export function instanceTable(context: CommandContext, instances: readonly Instance[]): string {
  const rows = instances.map(({ name, zone, state, address, serves, creationTime }) => [
    name,
    zone,
    context.paint(chooseColour(state), state),
    address,
    serves.join(', '),
    age(creationTime, context.now()),
  ]);
  return table(['INSTANCE', 'ZONE', 'STATE', 'ADDRESS', 'SERVES', 'AGE'], rows);
}

export interface InstancesOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly zone?: string;
  readonly output: Output;
}

/** Kinds of services in the order in which a name without a kind is looked up. */
const SERVICES = ['meshservices', 'meshmultizoneservices', 'meshexternalservices'] as const;

/** `causeway instances SERVICE`: the instances of a service. SERVICE is a name or KIND/NAME. */
export async function instances(context: CommandContext, service: string, options: InstancesOptions): Promise<number> {
  const found = await listInstances(context, await findService(context, service, options));
  if (options.output !== 'table') context.print(structured({ items: found }, options.output));
  else if (found.length === 0) context.printError(`no instances: ${service} selects no Dataplane that is known here`);
  else context.print(instanceTable(context, found));
  return 0;
}

async function findService(context: CommandContext, given: string, options: InstancesOptions): Promise<JsonObject> {
  const [named] = given.includes('/') ? parseSelections(context.registry, [given]) : [];
  const kinds = named ? [named.kind] : SERVICES.map((noun) => requireKind(context.registry, noun));
  const { mesh, namespace, zone } = options;
  const api = await context.api();
  let refused: ApiError | undefined;
  for (const kind of kinds) {
    try {
      const name = named?.names[0] ?? given;
      const place = { mesh, zone, namespace: kind.namespaced ? namespace : undefined };
      return (await api.get(refTo({ kind, name }, place))).document;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'not-found') throw error;
      refused ??= error;
    }
  }
  throw refused ?? new ApiError('not-found', `no service ${given}`);
}

/** `causeway instances`. */
export function registerInstances(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('instances')
    .description('shows what serves a service, and how well it is')
    .argument('<service>', 'a name or KIND/NAME')
    .addOption(meshOption())
    .addOption(namespaceOption())
    .addOption(zoneOption())
    .addOption(outputOption())
    .action(async (service: string, options: InstancesOptions) => finish(await instances(context, service, options)));
}
