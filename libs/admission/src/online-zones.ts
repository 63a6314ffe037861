import { Zone } from '@causeway/kinds';
import type { Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { AdmissionParts } from './admission-parts';
import { InUse } from './mesh-rules';
import type { DeleteRequest } from './requests';

/**
 * Throws InUse if the resource is a Zone that is Online and the request does not force its deletion: that is an outage,
 * and no removal, since the zone comes back with its valid token. Returns what a forced deletion costs.
 */
export async function checkZoneDeletion(
  { index, isZoneOnline }: Pick<AdmissionParts, 'index' | 'isZoneOnline'>,
  { id: { kind, name } }: Resource,
  { force = false }: Pick<DeleteRequest, 'force'>,
): Promise<readonly string[]> {
  if (kind !== Zone.name || !isZoneOnline || !(await isZoneOnline(name))) return [];
  const cost = describeCost(index, name);
  if (force) return [`zone ${name} is Online: ${cost}`];
  throw new InUse(
    `zone ${name} is Online, and its deletion would be an outage: ${cost}. To take its services from the other zones, and give ` +
      `them back later: causeway zones disable ${name}. To remove it: causeway tokens revoke ID for each of its tokens (causeway ` +
      'tokens list), or stop its control plane, and delete it once it is Offline. To delete it now: --force (REST: force=true)',
  );
}

function describeCost(index: IndexReader, zone: string): string {
  const count = (kind: string): number => [...index.ofKind(kind)].filter(({ id }) => id.zone === zone).length;
  const held = [
    `the names of its ${amount(count('MeshService'), 'service')} are gone from every other zone at once`,
    `connections to its ${amount(count('Dataplane'), 'dataplane')} from there are cut`,
    'it comes back within seconds, with all of them, while its token is valid',
  ];
  return held.join('; ');
}

function amount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
