import { coreKinds } from '@causeway/kinds';
import { computedLabels, isJsonObject, type Identity } from '@causeway/resources';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import type { Change } from '@causeway/store';
import { dataplane } from '../../test/support/process-mesh';

const BATCH = 5_000;

/** Resources to write into a zone. */
export interface Filling {
  readonly zone: string;
  /** Number of services, each with one Dataplane. */
  readonly services: number;
}

/**
 * Writes Dataplanes straight into a zone's database before its control plane starts, so that filling through REST is not
 * what takes the time; the control plane then makes services of them as always.
 */
export async function fill(url: string, { zone, services }: Filling): Promise<void> {
  if (services === 0) return;
  const backend = await createPostgresBackend({ url });
  for (let from = 0; from < services; from += BATCH) {
    const length = Math.min(BATCH, services - from);
    const changes = Array.from({ length }, (_, i) => filler(zone, `fill-${zone}-${from + i}`));
    await backend.store.write({ changes, onRefusal: 'skip' });
  }
  await backend.close();
}

function filler(zone: string, service: string): Change {
  const id: Identity = { kind: 'Dataplane', mesh: 'default', zone, namespace: 'default', name: `${service}-1` };
  const kind = coreKinds.kind(id.kind);
  const { spec } = dataplane(id.name, service);
  if (!kind || !isJsonObject(spec)) throw new Error('no Dataplane');
  const labels = computedLabels(kind, id, { role: 'zone', zone, federated: true });
  return { type: 'put', id, expect: 'absent', labels, spec };
}
