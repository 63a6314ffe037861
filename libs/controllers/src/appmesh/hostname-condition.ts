import type { Compiled } from '@causeway/appmesh';
import { MeshService, Zone } from '@causeway/kinds';
import {
  frontendOfVirtualService,
  identityKey,
  isJsonArray,
  isJsonObject,
  ownZone,
  type Condition,
  type ControlPlane,
  type Identity,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/** True on a VirtualService while its App Mesh name is not a hostname; the message gives the reason, and the holder of the name and its rule. */
export const NOT_NAMED = 'causeway.io/NotNamed';

/** Maximum number of zones that a message names. */
const MAX_ZONES = 3;

/** Returns the frontends of a VirtualService that was made here: the one of this zone, or on the global those of all zones. */
export function listFrontends({ mesh, namespace, name }: Identity, index: IndexReader, cp: ControlPlane): Resource[] {
  const zones = cp.role === 'zone' ? [cp.zone] : [...index.ofKind(Zone.name)].map(({ id }) => id.name);
  const of = { kind: MeshService.name, mesh, namespace, name: frontendOfVirtualService(name) };
  return zones.flatMap((zone) => index.get({ ...of, zone }) ?? []);
}

/** Returns the keys of the VirtualServices made here whose frontend has this identity; empty for other resources. */
export function sourcesNamed({ kind, mesh, namespace, name }: Identity, cp: ControlPlane): readonly ResourceKey[] {
  const prefix = frontendOfVirtualService('');
  if (kind !== MeshService.name || !name.startsWith(prefix)) return [];
  const source = { kind: 'VirtualService', mesh, zone: ownZone(cp), namespace, name: name.slice(prefix.length) };
  return [identityKey(source)];
}

/** Returns the condition of a VirtualService whose App Mesh name is not a hostname; undefined if it is one, or if no zone has reported yet. */
export function unnamedCondition(
  { awsName, unnamed }: Pick<Compiled, 'awsName' | 'unnamed'>,
  mesh: string,
  frontends: readonly Resource[],
  observedGeneration: number,
): Condition | undefined {
  const condition = (reason: string, message: string): Condition => ({
    type: NOT_NAMED,
    status: 'True',
    reason,
    message,
    observedGeneration,
  });
  if (unnamed === 'NotADnsName')
    return condition(unnamed, `awsName "${awsName}" is no hostname: it is no DNS name of at most 63 characters`);
  if (unnamed === 'OutsideSuffixes')
    return condition(
      unnamed,
      `awsName "${awsName}" is no hostname: it lies under no suffix of mesh ${mesh}; a mesh operator adds one in a MeshNaming`,
    );
  const lost = frontends.flatMap(({ id, status }) => {
    const reason = findMissingAddress(status?.['addresses'], awsName);
    return reason === undefined ? [] : [`in zone ${id.zone}: ${reason}`];
  });
  if (lost.length === 0) return undefined;
  const more = lost.length > MAX_ZONES ? `, and in ${lost.length - MAX_ZONES} more zones` : '';
  return condition('Lost', `awsName "${awsName}" is no hostname ${lost.slice(0, MAX_ZONES).join(', ')}${more}`);
}

/** Returns the reason in `status.addresses` why a name is not Available. */
function findMissingAddress(addresses: unknown, hostname: string): string | undefined {
  if (!Array.isArray(addresses) || !isJsonArray(addresses)) return undefined;
  const entries = addresses.filter(isJsonObject).filter((one) => one['hostname'] === hostname);
  if (entries.length === 0 || entries.some((one) => one['status'] === 'Available')) return undefined;
  const reason = entries.map((one) => one['reason']).find((one) => typeof one === 'string');
  return typeof reason === 'string' ? reason : 'another service has it';
}
