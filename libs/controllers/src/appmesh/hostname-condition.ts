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

/** True on a VirtualService while its name at App Mesh is no hostname; the message says why, and who has it by which rule. */
export const NOT_NAMED = 'causeway.io/NotNamed';

/** Most zones that a message names. */
const MAX_ZONES = 3;

/** The frontends of a VirtualService that was made here: that of this zone, or on the global those of all zones. */
export function listFrontends({ mesh, namespace, name }: Identity, index: IndexReader, cp: ControlPlane): Resource[] {
  const zones = cp.role === 'zone' ? [cp.zone] : [...index.ofKind(Zone.name)].map(({ id }) => id.name);
  const of = { kind: MeshService.name, mesh, namespace, name: frontendOfVirtualService(name) };
  return zones.flatMap((zone) => index.get({ ...of, zone }) ?? []);
}

/** Keys of the VirtualServices made here whose frontend has this identity; none for what is no frontend. */
export function sourcesNamed({ kind, mesh, namespace, name }: Identity, cp: ControlPlane): readonly ResourceKey[] {
  const prefix = frontendOfVirtualService('');
  if (kind !== MeshService.name || !name.startsWith(prefix)) return [];
  const source = { kind: 'VirtualService', mesh, zone: ownZone(cp), namespace, name: name.slice(prefix.length) };
  return [identityKey(source)];
}

/** Why a VirtualService has no hostname of its name at App Mesh; undefined where it has it, or nobody has said otherwise yet. */
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

/** The reason in `status.addresses` for which a name is not Available. */
function findMissingAddress(addresses: unknown, hostname: string): string | undefined {
  if (!Array.isArray(addresses) || !isJsonArray(addresses)) return undefined;
  const entries = addresses.filter(isJsonObject).filter((one) => one['hostname'] === hostname);
  if (entries.length === 0 || entries.some((one) => one['status'] === 'Available')) return undefined;
  const reason = entries.map((one) => one['reason']).find((one) => typeof one === 'string');
  return typeof reason === 'string' ? reason : 'another service has it';
}
