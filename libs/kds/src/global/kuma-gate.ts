import { isJsonObject, type JsonObject } from '@causeway/resources';
import { errorText, type Timer } from '@causeway/runtime';
import { waitUntilCaughtUp, type MetadataEntry } from '@causeway/store';
import { isIncarnationComplete } from '@causeway/sync';
import type { GlobalSyncOptions } from './global-sync-options';
import { DEFAULT_ABSENCE_HOLD } from '../session/sync-options';

/** Area of the metadata entries that record which zones have reported in this incarnation of the store. */
const AREA = 'global-incarnation';
const INCARNATION = 'incarnation';
const REPORTED = 'reported/';

/** Returns area and key of the metadata entry that records that a zone has reported. */
export function reportedEntry(zone: string): { readonly area: string; readonly key: string } {
  return { area: AREA, key: REPORTED + zone };
}

interface GateState {
  /** When the incarnation was first seen, ms since 1970. */
  readonly since: number;
  readonly open: boolean;
}

type KumaGateOptions = Pick<GlobalSyncOptions, 'store' | 'sessions' | 'index' | 'clock' | 'logger' | 'hold'>;

/**
 * Decides whether Kuma zones may receive other zones' resources. A Kuma zone deletes everything that a first state lacks,
 * so a global in a new incarnation sends it only after the other zones have reported to the global (docs/design.md §5). In
 * the first incarnation of a store the gate does not wait. Once open, it stays open for this incarnation, on every replica.
 */
export class KumaGate {
  private opened: string | undefined;
  private looking: Promise<void> = Promise.resolve();
  private timer: Timer | undefined;
  private readonly stopped = new AbortController();
  private readonly waiting = new Set<() => void>();

  constructor(private readonly parts: KumaGateOptions) {}

  get isOpen(): boolean {
    return this.opened !== undefined && this.opened === this.incarnation;
  }

  /** Calls `listener` when the gate opens, until the returned function is called. */
  onOpen(listener: () => void): () => void {
    this.waiting.add(listener);
    return () => void this.waiting.delete(listener);
  }

  /** Records that the full state of a zone is stored. Never rejects. */
  async reported(zone: string): Promise<void> {
    await this.check();
    const { incarnation } = this;
    if (this.isOpen || incarnation === undefined) return;
    await this.write(REPORTED + zone, { incarnation }).catch((error: unknown) => this.failed(error));
    await this.check();
  }

  /** Opens the gate if its conditions hold. Call it before a zone's first session, or the gate waits for that zone. Never rejects. */
  check(): Promise<void> {
    if (this.isOpen) return Promise.resolve();
    this.looking = this.looking.then(() => this.checkOnce()).catch((error: unknown) => this.failed(error));
    return this.looking;
  }

  close(): void {
    this.stopped.abort();
    this.timer?.cancel();
    this.waiting.clear();
  }

  private get incarnation(): string | undefined {
    return this.parts.index.point?.incarnation;
  }

  private async checkOnce(): Promise<void> {
    const { incarnation } = this;
    if (this.isOpen || incarnation === undefined) return;
    const { store, index, clock, hold = DEFAULT_ABSENCE_HOLD } = this.parts;
    const entries = await store.listMetadata(AREA);
    const known = decodeGateState(entries, incarnation);
    const { since, open } = known ?? { since: clock.now(), open: false };
    const whole =
      open || isIncarnationComplete(await this.zones(entries, incarnation), { since, hold, now: clock.now() });
    if (!known || whole !== open) await this.write(INCARNATION, { incarnation, since, open: whole });
    if (!whole) return this.scheduleCheck(since + hold);
    // The index must contain what zones reported to other replicas before anything is sent.
    await waitUntilCaughtUp(store, index, this.stopped.signal);
    this.open(incarnation);
  }

  private async zones(
    entries: readonly MetadataEntry[],
    incarnation: string,
  ): Promise<Parameters<typeof isIncarnationComplete>[0]> {
    const { sessions, index } = this.parts;
    const known = new Set((await sessions.sessions()).map(({ zone }) => zone));
    const reported = new Set(
      entries.filter(({ value }) => value?.['incarnation'] === incarnation).map(({ key }) => key),
    );
    return [...index.ofKind('Zone')].map(({ id, spec }) => ({
      enabled: spec['enabled'] !== false && !(isJsonObject(spec['quarantine']) && spec['quarantine']['all'] === true),
      hadSession: known.has(id.name),
      reported: reported.has(REPORTED + id.name),
    }));
  }

  private open(incarnation: string): void {
    this.opened = incarnation;
    this.timer?.cancel();
    for (const listener of [...this.waiting]) listener();
  }

  private scheduleCheck(at: number): void {
    const { clock, logger } = this.parts;
    if (!this.timer) {
      const until = new Date(at).toISOString();
      logger.warn(
        'the store is in a new incarnation: Kuma zones get resources of other zones only after all zones have reported',
        {
          until,
        },
      );
    }
    this.timer?.cancel();
    this.timer = clock.after(at - clock.now(), () => void this.check());
  }

  private write(key: string, value: JsonObject): Promise<unknown> {
    return this.parts.store.write({ changes: [], onRefusal: 'skip', metadata: [{ area: AREA, key, value }] });
  }

  private failed(error: unknown): void {
    this.parts.logger.warn('the record of which zones have reported could not be read or written', {
      error: errorText(error),
    });
  }
}

function decodeGateState(entries: readonly MetadataEntry[], incarnation: string): GateState | undefined {
  const value = entries.find(({ key }) => key === INCARNATION)?.value;
  if (!isJsonObject(value) || value['incarnation'] !== incarnation) return undefined;
  return { since: Number(value['since']), open: value['open'] === true };
}
