import { parseGenerator, ClaimTable } from '@causeway/naming';
import { isJsonObject, Label, type Resource } from '@causeway/resources';
import { inSlices } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { NAMED_KINDS } from '../hostname/zone-claims';

/**
 * The claims that arise in zone `zone`, worked out on the global from what every zone reported to it: what that zone
 * made itself, what the global made, and the MeshServices of all other enabled zones. Export rules and lost zones are
 * not looked at. Costs a pass over everything, which ends when `signal` aborts; for dry runs.
 */
export async function claimsOfZone(index: IndexReader, zone: string, signal: AbortSignal): Promise<ClaimTable> {
  const table = new ClaimTable(zone);
  await inSlices(fill(table, index, zone), signal);
  table.discardChanged();
  return table;
}

function* fill(table: ClaimTable, index: IndexReader, zone: string): Generator<unknown> {
  const disabled = disabledZones(index);
  for (const { id } of index.ofKind('Mesh')) table.addMesh(id.name);
  for (const generator of index.ofKind('HostnameGenerator')) {
    if (belongsTo(generator, zone)) table.upsertGenerator(parseGenerator(generator, generator.id.zone === zone));
  }
  for (const kind of NAMED_KINDS) {
    for (const service of index.ofKind(kind)) {
      const { id, labels, creationOrder } = service;
      const comes = kind === 'MeshService' ? id.zone === zone || !disabled.has(id.zone) : belongsTo(service, zone);
      const origin = id.zone === zone ? 'zone' : 'global';
      if (comes) table.upsertService({ id, creationOrder, labels: { ...labels, [Label.origin]: origin } });
      yield;
    }
  }
}

/** Kinds that go up and stop at the global: each zone has its own and the global's. */
function belongsTo({ id }: Resource, zone: string): boolean {
  return id.zone === zone || id.zone === '';
}

function disabledZones(index: IndexReader): ReadonlySet<string> {
  const zones = [...index.ofKind('Zone')];
  return new Set(zones.filter(({ spec }) => isJsonObject(spec) && spec['enabled'] === false).map(({ id }) => id.name));
}
