import type { ZoneSyncStatus } from '@causeway/kds';
import type { JsonObject } from '@causeway/resources';
import { errorText, type Clock, type Impediment, type Logger } from '@causeway/runtime';
import type { Fence, ResourceStore } from '@causeway/store';

/** Metadata by which the leader says how the session with the global is. */
const METADATA_KEY = { area: 'global-session', key: 'state' } as const;
/** Time without a session before that is reported, ms: a change of the leader takes as long. */
const GRACE = 5_000;
/** Time for which a replica that does not lead believes what it read, ms. */
const READ_INTERVAL = 2_000;
/** Maximum length of a reason that is stored. */
const MAX_REASON = 300;

/** The session with the global, as the leader knows it. */
interface LinkState {
  readonly connected: boolean;
  /** Since when there is none, ms since 1970; 0 during a session. */
  readonly since: number;
  readonly reason: string;
  /** Reason for which the global refused the zone's token last; empty since it accepted one. */
  readonly refused: string;
}

/** Dependencies of `GlobalLink`. */
interface GlobalLinkOptions {
  readonly store: Pick<ResourceStore, 'readMetadata' | 'write'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The session of this replica; undefined while another one leads. */
  readonly session: () => ZoneSyncStatus | undefined;
  readonly addresses: readonly string[];
}

/**
 * The session of a zone with its global, as every replica reports it: the leader has it, and writes down when it changes. A replica that cannot
 * read that reports the last state it knew.
 */
export class GlobalLink {
  private known: LinkState | undefined;
  private written: string | undefined;
  private readAt = -Infinity;
  private reading: Promise<void> | undefined;

  constructor(private readonly options: GlobalLinkOptions) {}

  /** Writes the state of this leader's session where it is another than before. Throws while the store is away. */
  async publish(fence: Fence): Promise<void> {
    const state = this.ownState();
    if (!state) return;
    const text = JSON.stringify(state);
    if (text === this.written) return;
    const metadata = [{ ...METADATA_KEY, value: { ...state } }];
    await this.options.store.write({ changes: [], onRefusal: 'abort', fence, metadata });
    this.written = text;
  }

  /** Returns what is wrong with the session, by what was read last; reads anew in the background. */
  impediments(): readonly Impediment[] {
    if (!this.ownState()) void this.read();
    return this.evaluate();
  }

  /** As `impediments`, after reading anew where another replica leads. */
  async currentImpediments(): Promise<readonly Impediment[]> {
    if (!this.ownState()) await this.read();
    return this.evaluate();
  }

  private ownState(): LinkState | undefined {
    const status = this.options.session();
    if (!status) return undefined;
    const { connected, disconnectedSince = 0, lastError = 'no session yet', refusal = '' } = status;
    const [since, reason] = connected ? [0, ''] : [disconnectedSince, lastError.slice(0, MAX_REASON)];
    this.known = { connected, since, reason, refused: refusal.slice(0, MAX_REASON) };
    return this.known;
  }

  private read(): Promise<void> {
    const { store, clock, logger } = this.options;
    if (clock.elapsed() - this.readAt < READ_INTERVAL) return this.reading ?? Promise.resolve();
    this.readAt = clock.elapsed();
    this.reading = store
      .readMetadata(METADATA_KEY.area, METADATA_KEY.key)
      .then((entry) => (this.known = entry ? decodeState(entry) : this.known))
      .then(
        () => undefined,
        // The store is away, which is reported by itself.
        (error: unknown) => logger.debug('the session with the global is not known', { error: errorText(error) }),
      );
    return this.reading;
  }

  private evaluate(): readonly Impediment[] {
    const { clock, addresses } = this.options;
    if (!this.known) return [];
    const { connected, since, reason, refused } = this.known;
    const away = clock.now() - since;
    const isRefusal = refused !== '' && reason === refused;
    return [
      ...(refused === '' ? [] : [refusedToken(refused)]),
      ...(connected || isRefusal || away < GRACE ? [] : [lostGlobal(addresses, away, reason)]),
    ];
  }
}

function refusedToken(reason: string): Impediment {
  return {
    type: 'token',
    reason: `the global refuses the token of this zone: ${reason}; other zones see of this one what they had`,
    advice: 'make another on the global and put it in its place: docs/guides/zone-tokens.md',
    stops: ['traffic'],
  };
}

function lostGlobal(addresses: readonly string[], away: number, reason: string): Impediment {
  const at = addresses.length > 1 ? `any of ${addresses.join(', ')}` : addresses.join('');
  return {
    type: 'global',
    reason: `no session with the global at ${at} since ${Math.round(away / 1_000)} s: ${reason}; what other zones have stays as it was`,
    advice: 'see whether the global runs, and what is between: docs/guides/troubleshooting.md',
    stops: ['traffic'],
  };
}

function decodeState({ connected, since, reason, refused }: JsonObject): LinkState {
  return {
    connected: connected === true,
    since: Number(since ?? 0),
    reason: typeof reason === 'string' ? reason : '',
    refused: typeof refused === 'string' ? refused : '',
  };
}
