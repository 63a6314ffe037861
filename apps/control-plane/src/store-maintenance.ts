import { applyDefaults } from '@causeway/admission';
import { errorText, type LeaderTerm } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';
import type { PostgresBackend } from '@causeway/store-postgres';
import type { ControlPlaneCore } from './core.module';

/** How long tombstones are kept, and how often old ones are looked for, ms (docs/design.md §2.3). */
const TOMBSTONE_RETENTION = 24 * 3_600_000;
const PURGE_INTERVAL = 3_600_000;

/** How often the audit log is cut, ms: between two cuts it grows beyond its bound by what users write. */
const AUDIT_INTERVAL = 60_000;

/** The share of the audit log that refusals may take. */
const REFUSALS = 0.2;

/**
 * What a leader of any control plane does: it writes the defaults at the first start, then removes old tombstones and old
 * entries of the audit log until the term ends.
 */
export async function maintainStore(core: ControlPlaneCore, backend: PostgresBackend, term: LeaderTerm): Promise<void> {
  const { clock, cp, settings } = core;
  const { store, audit } = backend;
  const { CAUSEWAY_AUDIT_RETENTION: age, CAUSEWAY_AUDIT_ENTRIES: entries } = settings;
  await applyDefaults({ store, controlPlane: cp, clock, fence: term });
  const bounds = { age, entries, refusals: Math.ceil(entries * REFUSALS) };
  await Promise.all([
    repeat(core, term, {
      what: 'old tombstones',
      every: PURGE_INTERVAL,
      purge: () => store.purgeTombstones(TOMBSTONE_RETENTION),
    }),
    repeat(core, term, { what: 'old audit entries', every: AUDIT_INTERVAL, purge: () => audit.purge(bounds) }),
  ]);
}

interface Purging {
  readonly what: string;
  /** ms. */
  readonly every: number;
  readonly purge: () => Promise<unknown>;
}

async function repeat({ clock, logger }: ControlPlaneCore, { signal }: LeaderTerm, purging: Purging): Promise<void> {
  while (!signal.aborted) {
    try {
      await purging.purge();
    } catch (error) {
      logger.warn('a purge failed; it is tried again', { what: purging.what, error: errorText(error) });
    }
    await clock.sleep(purging.every, signal);
  }
}

/** What is looked at for the defaults. */
interface DefaultsSource {
  readonly store: Pick<ResourceStore, 'notes'>;
  readonly index: IndexReader;
  /** Aborts when the program is to end: it looks no more then. */
  readonly shutdown: AbortSignal;
}

/**
 * Says why the program is not ready as long as no leader, here or elsewhere, has written the defaults; a mesh without
 * them would refuse the first services.
 */
export function defaultsReadiness({ store, index, shutdown }: DefaultsSource): () => string | undefined {
  let written = false;
  const look = async (): Promise<void> => {
    if (written || shutdown.aborted) return;
    written = (await store.notes('defaults').catch(() => [])).length > 0;
    if (written) unsubscribe();
  };
  const unsubscribe = index.subscribe(() => void look());
  void look();
  return () => {
    if (written) return undefined;
    // The database did not answer that look, and the index may stand still from now on.
    void look();
    return 'no leader has written the default resources yet';
  };
}
