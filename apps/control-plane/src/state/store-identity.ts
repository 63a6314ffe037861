import { randomUUID } from 'node:crypto';
import { ownZone, type ControlPlane, type JsonObject, type JsonValue } from '@causeway/resources';
import type { ResourceStore } from '@causeway/store';

const AREA = 'identity';
const KEY = 'self';
const DRAWN = 'store';

/** Owner of a store, written at its first start and never changed. */
export interface StoreIdentity {
  readonly storeId: string;
}

/**
 * Binds a store to its control plane: the first start writes the zone's name and the store's id, and another name
 * refuses the start (docs/design.md §5 Ownership), since everything in the store has the first one. Two replicas that
 * start at once get the same id.
 */
export async function bindIdentity(store: ResourceStore, cp: ControlPlane): Promise<StoreIdentity> {
  const zone = ownZone(cp);
  const known = read(await store.readMetadata(AREA, KEY));
  if (known && (known.role !== cp.role || known.zone !== zone)) {
    throw new Error(`this database belongs to ${ownerName(known.zone)}, not to ${ownerName(zone)}`);
  }
  if (known && known.storeId !== '') return { storeId: known.storeId };
  // Created with the database: two replicas that find no identity both write the same one.
  const drawn = await store.readMetadata(AREA, DRAWN);
  const value = { role: cp.role, zone, storeId: readText(drawn?.['storeId']) || randomUUID() };
  await store.write({ changes: [], onRefusal: 'abort', metadata: [{ area: AREA, key: KEY, value }] });
  return { storeId: readText((await store.readMetadata(AREA, KEY))?.['storeId']) };
}

/** Reads the owner; undefined if it is absent or unreadable, which binds the store to no control plane. */
function read(stored: JsonObject | undefined): { role: string; zone: string; storeId: string } | undefined {
  const { role, zone, storeId } = stored ?? {};
  if (typeof role !== 'string' || typeof zone !== 'string') return undefined;
  return { role, zone, storeId: readText(storeId) };
}

function ownerName(zone: string): string {
  return zone === '' ? 'a global control plane' : `zone "${zone}"`;
}

function readText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
