import { AccessPolicy } from '@causeway/policies';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import { waitUntilCaughtUp, type IndexReader, type ResourceStore } from '@causeway/store';

/** Kinds of the global that decide which callers a zone allows; of Kuma's kinds, only Meshes do. */
const AUTHORIZATION_KINDS = ['Mesh', 'MeshParameters', 'ConfigMap', 'MeshTrust'];
/** Also needed if the global sends declared kinds: the definition comes first, then its kinds are subscribed to. */
const DECLARED_AUTHORIZATION_KINDS = ['MetaresourceDefinition', AccessPolicy.kind];
const KUMA_AUTHORIZATION_KINDS = ['Mesh'];

const ENTRY = { area: 'zone', key: 'first-state' } as const;
/** Interval of the checks for the entry, ms: any replica may lead, and metadata entries are not in the log. */
const POLL_INTERVAL = 1_000;

/** Contribution of a session to the first state. */
export interface FirstStateReport {
  readonly store: Pick<ResourceStore, 'write' | 'readMetadata'>;
  readonly fence: { readonly epoch: number; readonly holder: string };
  /** Ends the session (see endOnStoreFailure). */
  readonly onStoreFailure: (what: string, error: unknown) => void;
  readonly causeway: boolean;
  /** Whether the global sends kinds that definitions declare. */
  readonly declares: boolean;
  /** Whether the whole state of a kind was stored in an earlier session. */
  readonly hadWhole: (kind: string) => boolean;
}

/**
 * Records that the zone has stored a complete state of all kinds that decide which callers are allowed. Call the
 * returned function with each kind whose full state is stored; repeated calls are harmless.
 */
export function reportFirstState({
  store,
  fence,
  onStoreFailure,
  causeway,
  declares,
  hadWhole,
}: FirstStateReport): (kind: string) => void {
  const decisive = [
    ...(causeway ? AUTHORIZATION_KINDS : KUMA_AUTHORIZATION_KINDS),
    ...(declares ? DECLARED_AUTHORIZATION_KINDS : []),
  ];
  const awaited = new Set(decisive.filter((kind) => !hadWhole(kind)));
  let isNoted = false;
  const entry = (): void => {
    if (isNoted || awaited.size > 0) return;
    isNoted = true;
    recordOnce(store, fence).catch((error: unknown) => onStoreFailure('the record of a complete first state', error));
  };
  entry();
  return (kind) => {
    awaited.delete(kind);
    entry();
  };
}

async function recordOnce(store: FirstStateReport['store'], fence: FirstStateReport['fence']): Promise<void> {
  if (await store.readMetadata(ENTRY.area, ENTRY.key)) return;
  const entries = [{ ...ENTRY, value: { complete: true } }];
  await store.write({ changes: [], onRefusal: 'skip', metadata: entries, fence });
}

/** Sources that the gate reads. */
export interface FirstStateOptions {
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly clock: Clock;
  readonly logger: Logger;
  /** False for a standalone zone, whose own state is complete. */
  readonly federated: boolean;
}

/**
 * Whether this zone has ever stored a complete first state of the kinds that decide which callers are allowed: Meshes,
 * their settings, trust, and AccessPolicies. Until then a zone cannot know which callers to refuse. Once complete it
 * stays so, over restarts and on every replica; a zone that loses its global continues with its stored state.
 */
export class FirstState {
  private ready: boolean;
  private readonly stopped = new AbortController();
  private readonly waiting = new Set<() => void>();

  constructor(private readonly options: FirstStateOptions) {
    this.ready = !options.federated;
  }

  isReady(): boolean {
    return this.ready;
  }

  /** Calls `listener` once, when the state is complete, until the returned function is called. */
  onReady(listener: () => void): () => void {
    this.waiting.add(listener);
    return () => void this.waiting.delete(listener);
  }

  /** Polls for the metadata entry until it exists, or until `close`. Never rejects. */
  async run(): Promise<void> {
    const { store, index, clock, logger } = this.options;
    const { signal } = this.stopped;
    while (!this.ready && !signal.aborted) {
      try {
        if (await store.readMetadata(ENTRY.area, ENTRY.key)) {
          // The index must contain everything that was stored before the entry.
          await waitUntilCaughtUp(store, index, signal);
          this.open();
          return;
        }
      } catch (error) {
        if (!signal.aborted)
          logger.warn('the record of a complete first state could not be read', { error: errorText(error) });
      }
      await clock.sleep(POLL_INTERVAL, signal);
    }
  }

  close(): void {
    this.stopped.abort();
    this.waiting.clear();
  }

  private open(): void {
    this.ready = true;
    for (const listener of [...this.waiting]) listener();
    this.waiting.clear();
  }
}
