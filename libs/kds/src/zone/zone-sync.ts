import { withInsightKinds, withRevocations } from '../session/proxy-insights';
import { Backoff, errorText } from '@causeway/runtime';
import type { StoredPosition } from '../session/inbound/inbound-half';
import type { PendingIncarnation } from '@causeway/sync';
import { type KindReport, pendingIncarnationDocument, reportDocument, computeHealth } from '../session/kind-report';
import { isUnauthenticated, toRetryDelay } from './zone-transport';
import { CredentialsMissing } from '../auth/credentials';
import { connect, type GlobalConnection, type GlobalReplica } from './connection';
import type { ZoneSyncOptions } from './zone-sync-options';
import { describeCallFailure } from '../session/lost-connection';
import { DEFAULT_ABSENCE_HOLD } from '../session/sync-options';
import { Unavailable, type JsonObject } from '@causeway/resources';

/** The state of a zone's session with the global. */
export interface ZoneSyncStatus {
  readonly connected: boolean;
  /** Undefined before the first session. */
  readonly session?: number;
  readonly peer?: 'causeway' | 'kuma';
  /** Why the last session ended, or why none could be opened. */
  readonly lastError?: string;
  /** Reason for which the global refused the zone's token; absent since it accepted one, and before. */
  readonly refusal?: string;
  /** Since when there is no session, ms since 1970; absent during a session. */
  readonly disconnectedSince?: number;
  /** Kinds whose whole state from the global has been stored in this session. */
  readonly complete: readonly string[];
  /** Progress of each kind in this session, in both directions. */
  readonly kinds: readonly KindReport[];
  /** The replica of the global; undefined for plain Kuma. */
  readonly global?: GlobalReplica;
  /** When this session began, ms since 1970. */
  readonly openedAt?: number;
  /** An incarnation of the global that is not accepted yet: resources that it lacks are kept. */
  readonly pendingIncarnation?: PendingIncarnation;
}

/** A zone's side of sync. */
export interface ZoneSync {
  /** Keeps a session with the global until the term ends; never rejects. */
  run(): Promise<void>;
  status(): ZoneSyncStatus;
  /** Returns up to where the global's state of a kind is stored here; undefined without a session, and before the global has sent its position. */
  findPosition(kind: string): StoredPosition | undefined;
  /** Checks whether the operator has confirmed the global's pending incarnation; otherwise that is checked every 5 s. */
  checkConfirmation(): Promise<void>;
  /**
   * Requests the successor of the token that the session was opened with; `secret` is this store's. Resolves with undefined if the global renews
   * no tokens (Kuma, an older version). Rejects with Unavailable without a session, and with gRPC's error.
   */
  renewToken(secret: string): Promise<string | undefined>;
}

const BACKOFF = { base: 200, cap: 5_000 } as const;
/** Reason of a session end after which a new one begins immediately. */
const TOKEN_REPLACED = 'the zone token was replaced';
/** Interval of the checks for missing credentials, ms. It costs the global nothing. */
const CREDENTIALS_POLL_INTERVAL = 100;

/** Builds a zone's side of sync for one term of the zone's leader (docs/design.md §5). */
export function createZoneSync(given: ZoneSyncOptions): ZoneSync {
  const options = withSentKinds(given);
  const { term, clock, logger } = options;
  const backoff = new Backoff(options.backoff ?? BACKOFF);
  let connection: GlobalConnection | undefined;
  let failure: Pick<ZoneSyncStatus, 'lastError' | 'refusal'> = {};
  const addresses = new AddressRounds(options.addresses);
  let awaySince = clock.now();

  /** Runs one session; resolves with the error that ended or prevented it. */
  const session = async (): Promise<unknown> => {
    const token = followToken(options);
    try {
      connection = await connect(options, addresses.current);
      backoff.reset();
      // A plain Kuma global refuses later, at a stream.
      if (connection.causeway) addresses.reached();
      failure = withoutRefusal(failure);
      const reason = await Promise.race([connection.ended, token.replaced]);
      awaySince = clock.now();
      return reason;
    } catch (error) {
      return error;
    } finally {
      token.unfollow();
      await connection?.close();
      connection = undefined;
    }
  };

  /** Logs why there is no session, turns to the next replica, and waits: shortly where another one was not tried yet. */
  const pauseAfter = async (error: unknown): Promise<void> => {
    const reason = typeof error === 'string' ? error : describeCallFailure(errorText(error));
    if (!(error instanceof CredentialsMissing) || reason !== failure.lastError)
      logger.warn('no session with the global, trying again', { address: addresses.current, error: reason });
    failure = { ...failure, lastError: reason, ...(isUnauthenticated(error) && { refusal: reason }) };
    await clock.sleep(toPause(error, addresses, backoff), term.signal);
  };

  return {
    run: async () => {
      while (!term.signal.aborted) {
        const error = await session();
        if (!term.signal.aborted && error !== TOKEN_REPLACED) await pauseAfter(error);
      }
    },
    checkConfirmation: async () => connection?.peerState.checkConfirmation(),
    renewToken: async (secret) => requireConnection(connection).renewToken(secret),
    findPosition: (kind) => connection?.findPosition(kind),
    status: () => ({
      ...(connection ? toStatus(connection) : toAbsence(awaySince)),
      ...failure,
    }),
  };
}

function toAbsence(disconnectedSince: number): ZoneSyncStatus {
  return { connected: false, disconnectedSince, complete: [], kinds: [] };
}

function withoutRefusal({ lastError }: Pick<ZoneSyncStatus, 'lastError'>): Pick<ZoneSyncStatus, 'lastError'> {
  return lastError === undefined ? {} : { lastError };
}

/** Returns the time until the next try, ms: none where an address was not tried yet, unless the global asked for one. */
function toPause(error: unknown, addresses: AddressRounds, backoff: Backoff): number {
  if (error instanceof CredentialsMissing) return CREDENTIALS_POLL_INTERVAL;
  return Math.max(addresses.next() ? 0 : backoff.next(), toRetryDelay(error));
}

/** The addresses of the global, in rounds: each is tried once before the next pause. */
class AddressRounds {
  private at = 0;
  private tried = 1;

  constructor(private readonly addresses: readonly string[]) {}

  get current(): string {
    return this.addresses[this.at] ?? '';
  }

  /** Begins a round: this address has answered. */
  reached(): void {
    this.tried = 1;
  }

  /** Turns to the next address; returns whether it was not tried yet in this round. */
  next(): boolean {
    this.at = (this.at + 1) % this.addresses.length;
    this.tried += 1;
    if (this.tried <= this.addresses.length) return true;
    this.tried = 1;
    return false;
  }
}

function withSentKinds(options: ZoneSyncOptions): ZoneSyncOptions {
  const known = withRevocations(options.registry);
  return { ...options, registry: options.insights ? withInsightKinds(known) : known };
}

function requireConnection(connection: GlobalConnection | undefined): GlobalConnection {
  if (connection) return connection;
  throw new Unavailable('there is no session with the global');
}

/** Returns `replaced`, which resolves with the reason when the zone's token is no longer the current one. */
function followToken({ token }: ZoneSyncOptions): { readonly replaced: Promise<string>; unfollow(): void } {
  let unfollow: (() => void) | undefined;
  const replaced = new Promise<string>((resolve) => {
    unfollow = token?.onChange(() => resolve(TOKEN_REPLACED));
  });
  return { replaced, unfollow: () => unfollow?.() };
}

function toStatus(connection: GlobalConnection): ZoneSyncStatus {
  const { session, global, causeway, openedAt } = connection;
  const newIncarnation = connection.peerState.pending;
  return {
    connected: true,
    complete: connection.complete(),
    kinds: connection.reports(),
    ...(session === undefined ? {} : { session }),
    ...(global ? { global } : {}),
    ...(newIncarnation ? { pendingIncarnation: newIncarnation } : {}),
    peer: causeway ? 'causeway' : 'kuma',
    openedAt,
  };
}

/** Returns the insight of a zone's own session, in the form of the global's insights; `now` is ms since 1970. */
export function sessionInsight(status: ZoneSyncStatus, now: number, hold = DEFAULT_ABSENCE_HOLD): JsonObject {
  const { connected, session, peer, global, openedAt = 0, kinds, lastError, disconnectedSince: awaySince } = status;
  const directions = ['down', 'up'] as const;
  return {
    health: computeHealth(kinds, connected ? directions.length : 0, now),
    renewedAt: now,
    ...(peer ? { peer } : {}),
    ...(global ? { globalInstanceId: global.instance, globalVersion: global.version } : {}),
    sessions: session === undefined ? [] : directions.map((direction) => ({ session, direction, openedAt })),
    ...pendingIncarnationDocument(status.pendingIncarnation, hold),
    kinds: kinds.map((report) => reportDocument(report, now)),
    ...(connected || lastError === undefined ? {} : { lastError }),
    ...(awaySince === undefined ? {} : { offline: { since: awaySince, reason: lastError ?? 'no session yet' } }),
  };
}
