import { listResourcesOfMesh, type HostnameClaim } from '@causeway/api';
import { ApiError } from '@causeway/api-client';
import { builtInRoles } from '@causeway/kinds';
import { isJsonArray, type JsonObject, type Kind } from '@causeway/resources';
import { chooseColour } from '../../colour';
import { requireKind, type CommandContext } from '../../context';
import { readReference, refTo, toSelection } from '../../refs';
import { listAt, objectAt, structured, table, textAt } from '../../render';
import { isReady } from '../get/columns';
import { listClaims, claimTable, meshNames, type ClaimedHostname } from '../names/hostnames';
import { listInstances, instanceTable } from './instances';

/** A titled part of a description. */
export interface Section {
  readonly title: string;
  readonly text: string;
}

/** Maximum number of a generator's names that are shown; `causeway hostnames --generator` shows all. */
const SHOWN_NAMES = 20;

type Describe = (context: CommandContext, body: JsonObject) => Promise<readonly Section[]>;

const byKind: Readonly<Record<string, Describe>> = {
  MeshService: service,
  MeshMultiZoneService: service,
  MeshExternalService: service,
  Dataplane: dataplane,
  HostnameGenerator: generator,
  Mesh: members,
  Role: role,
  RoleBinding: roleBinding,
};

/** Returns sections of related resources: instances of a service, names of a generator, holders of a role. */
export async function relatedSections(
  context: CommandContext,
  kind: Kind,
  body: JsonObject,
): Promise<readonly Section[]> {
  return (await byKind[kind.name]?.(context, body)) ?? [];
}

async function service(context: CommandContext, body: JsonObject): Promise<readonly Section[]> {
  const instances = await listInstances(context, body);
  const text = instances.length === 0 ? 'none that is known here' : instanceTable(context, instances);
  return [{ title: 'Instances', text }, ...hostnames(context, body)];
}

function hostnames(context: CommandContext, body: JsonObject): readonly Section[] {
  const addresses = listAt(objectAt(body, 'status'), 'addresses');
  const rows = addresses.map((a) => [
    textAt(a, 'hostname') || '-',
    context.paint(chooseColour(textAt(a, 'status')), textAt(a, 'status')),
    textAt(a, 'origin', 'name'),
    textAt(a, 'reason'),
  ]);
  if (rows.length === 0) return [{ title: 'Hostnames', text: 'none' }];
  return [{ title: 'Hostnames', text: table(['HOSTNAME', 'STATUS', 'GENERATOR', 'REASON'], rows) }];
}

async function dataplane(context: CommandContext, body: JsonObject): Promise<readonly Section[]> {
  const inbounds = listAt(objectAt(body, 'spec', 'networking'), 'inbound').map((inbound) => {
    const state = textAt(inbound, 'state') === 'Ignored' ? 'Ignored' : isReady(inbound) ? 'Ready' : 'NotReady';
    const tags = objectAt(inbound, 'tags');
    const protocol = textAt(tags, 'kuma.io/protocol') || textAt(inbound, 'protocol') || 'tcp';
    const shown = Object.keys(tags).map((key) => `${key}=${textAt(tags, key)}`);
    return [textAt(inbound, 'port'), protocol, context.paint(chooseColour(state), state), shown.sort().join(',')];
  });
  const { servedServices } = await import('./dataplane-selection.js');
  const serves = await servedServices(context, body);
  const [none, lines] = ['none: no selector of a MeshService matches it', serves.map((each) => `MeshService ${each}`)];
  return [
    { title: 'Health', text: table(['INBOUND', 'PROTOCOL', 'STATE', 'TAGS'], inbounds) },
    { title: 'Serves', text: lines.length === 0 ? none : lines.join('\n') },
  ];
}

/**
 * Returns the number of resources of each kind in a mesh: they block its deletion. Only REST counts without listing.
 */
async function members({ api, registry }: CommandContext, body: JsonObject): Promise<readonly Section[]> {
  const { rest } = await api();
  const mesh = textAt(body, 'name');
  const counts = await Promise.all(
    registry.kinds
      .filter(({ scope }) => scope === 'mesh')
      .map(async ({ name, plural }) => {
        const total = await rest.call(listResourcesOfMesh, { path: { mesh, plural }, query: { size: 1 } }).then(
          (page) => page.total,
          (error: unknown) => {
            if (error instanceof ApiError && (error.code === 'forbidden' || error.code === 'rest-only'))
              return undefined;
            throw error;
          },
        );
        return { name, total };
      }),
  );
  if (counts.every(({ total }) => total === undefined)) return [];
  const present = counts.flatMap(({ name, total = 0 }) => (total > 0 ? [`${name}: ${total}`] : []));
  return [{ title: 'Members', text: present.length === 0 ? 'none' : present.join('\n') }];
}

async function generator(context: CommandContext, body: JsonObject): Promise<readonly Section[]> {
  const { name, zone } = readReference(body);
  const claims: ClaimedHostname[] = [];
  try {
    for (const mesh of await meshNames(context)) {
      claims.push(...(await listClaims(context, mesh)).filter(({ claim }) => isMadeBy(claim, name, zone)));
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'rest-only') throw error;
    return [{ title: 'Names', text: 'shown over REST only' }];
  }
  const isHad = ({ claim }: ClaimedHostname): boolean => claim.status === 'Available';
  const meshes = new Set(claims.map(({ mesh }) => mesh)).size > 1;
  const section = (title: string, of: readonly ClaimedHostname[], wide: boolean): Section[] => {
    if (of.length === 0) return [];
    const more =
      of.length > SHOWN_NAMES ? `\n… ${of.length - SHOWN_NAMES} more: causeway hostnames --generator ${name}` : '';
    return [
      {
        title: `${title} (${of.length})`,
        text: claimTable(context, of.slice(0, SHOWN_NAMES), { wide, meshes }) + more,
      },
    ];
  };
  if (claims.length === 0) return [{ title: 'Names', text: 'none: it selects no service that it can name' }];
  const lost = claims.filter((each) => !isHad(each));
  return [...section('Names', claims.filter(isHad), false), ...section('Lost names', lost, true)];
}

/** Compares by name; the global does not know the zone of the generator of a reported claim. */
function isMadeBy({ generator }: HostnameClaim, name: string, zone: string): boolean {
  return generator.name === name && (generator.zone === undefined || generator.zone === zone);
}

async function role(context: CommandContext, body: JsonObject): Promise<readonly Section[]> {
  const { documents } = await (await context.api()).list(toSelection(requireKind(context.registry, 'RoleBinding'), {}));
  const held = documents.filter((binding) => textAt(binding, 'spec', 'role') === textAt(body, 'name'));
  if (held.length === 0) return [{ title: 'Held by', text: 'nobody: no RoleBinding names it' }];
  const rows = held.flatMap((binding) =>
    listAt(objectAt(binding, 'spec'), 'subjects').map((subject) => [
      `${textAt(subject, 'kind')} ${textAt(subject, 'name')}`,
      textAt(binding, 'name'),
      ...['kinds', 'meshes', 'namespaces'].map((key) => textsAt(objectAt(binding, 'spec'), key)),
    ]),
  );
  return [{ title: 'Held by', text: table(['SUBJECT', 'BINDING', 'KINDS', 'MESHES', 'NAMESPACES'], rows) }];
}

async function roleBinding(context: CommandContext, body: JsonObject): Promise<readonly Section[]> {
  const name = textAt(body, 'spec', 'role');
  const ref = refTo({ kind: requireKind(context.registry, 'Role'), name }, {});
  const found = await (await context.api()).get(ref).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not-found') return undefined;
    throw error;
  });
  if (builtInRoles.some((builtIn) => builtIn === name)) return [{ title: 'Role', text: `${name}: built in` }];
  if (!found) return [{ title: 'Role', text: `${name}: there is none of this name, so the binding gives nothing` }];
  return [{ title: 'Role', text: `${name}:\n${structured(objectAt(found.document, 'spec'), 'yaml')}` }];
}

function textsAt(value: JsonObject, key: string): string {
  const found = value[key];
  return isJsonArray(found) ? found.filter((each) => typeof each === 'string').join(',') : 'all';
}
