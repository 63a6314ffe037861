import { AccessPolicy } from '@causeway/policies';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import { waitUntilCaughtUp, type IndexReader, type ResourceStore } from '@causeway/store';

/** Kinds of the global that decide who may call in a zone; of Kuma's, only Meshes do. */
const DECISIVE = ['Mesh', 'MeshParameters', 'ConfigMap', 'MeshTrust'];
/** Besides, where the global sends kinds that definitions declare: the definition comes first, then what it declares is asked for. */
const DECISIVE_DECLARED = ['MetaresourceDefinition', AccessPolicy.kind];
const DECISIVE_OF_KUMA = ['Mesh'];

const NOTE = { area: 'zone', key: 'first-state' } as const;
/** How often the note is looked for, ms: any replica may lead, and notes are not in the log. */
const POLL_INTERVAL = 1_000;

/** Contribution of a session to the first state. */
export interface FirstStateReport {
  readonly store: Pick<ResourceStore, 'write' | 'readMetadata'>;
  readonly fence: { readonly epoch: number; readonly holder: string };
  /** Ends the session (see endUnstored). */
  readonly onUnstored: (what: string, error: unknown) => void;
  readonly causeway: boolean;
  /** Whether the global sends kinds that definitions declare. */
  readonly declares: boolean;
  /** Whether the whole state of a kind was stored in an earlier session. */
  readonly hadWhole: (kind: string) => boolean;
}

/**
 * Notes that the zone has stored a complete state of all that decides who may call. The returned function takes each kind whose
 * whole state is stored; it may be called often.
 */
export function reportFirstState({
  store,
  fence,
  onUnstored,
  causeway,
  declares,
  hadWhole,
}: FirstStateReport): (kind: string) => void {
  const decisive = [...(causeway ? DECISIVE : DECISIVE_OF_KUMA), ...(declares ? DECISIVE_DECLARED : [])];
  const awaited = new Set(decisive.filter((kind) => !hadWhole(kind)));
  let isNoted = false;
  const note = (): void => {
    if (isNoted || awaited.size > 0) return;
    isNoted = true;
    noteOnce(store, fence).catch((error: unknown) => onUnstored('that the first state is complete', error));
  };
  note();
  return (kind) => {
    awaited.delete(kind);
    note();
  };
}

async function noteOnce(store: FirstStateReport['store'], fence: FirstStateReport['fence']): Promise<void> {
  if (await store.readMetadata(NOTE.area, NOTE.key)) return;
  const notes = [{ ...NOTE, value: { complete: true } }];
  await store.write({ changes: [], onRefusal: 'skip', metadata: notes, fence });
}

/** Sources that the gate reads. */
export interface FirstStateOptions {
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly clock: Clock;
  readonly logger: Logger;
  /** False for a zone by itself, whose own state is all there is. */
  readonly federated: boolean;
}

/**
 * Whether this zone has ever stored a complete first state of what decides who may call: Meshes, their settings, trust, and AccessPolicies. Until then
 * a zone cannot know what it must refuse. Once complete it stays so, over restarts and on every replica; a zone that is cut
 * off from its global goes on with what it has.
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

  /** Looks for the note until it is there, or until `close`. Never rejects. */
  async run(): Promise<void> {
    const { store, index, clock, logger } = this.options;
    const { signal } = this.stopped;
    while (!this.ready && !signal.aborted) {
      try {
        if (await store.readMetadata(NOTE.area, NOTE.key)) {
          // The index must contain what was stored before the note.
          await waitUntilCaughtUp(store, index, signal);
          this.open();
          return;
        }
      } catch (error) {
        if (!signal.aborted)
          logger.warn('whether the first state is complete is not known', { error: errorText(error) });
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
