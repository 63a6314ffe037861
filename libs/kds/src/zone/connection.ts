import { HandshakeRequest, type HandshakeResponse } from '@causeway/proto-gen';
import type { Registry, StorePoint } from '@causeway/resources';
import type { PendingIncarnation } from '@causeway/sync';
import { caughtUp } from '../caught-up';
import { GLOBAL_PEER, PeerState } from '../session/peer-state';
import type { KindReport } from '../session/kind-report';
import { judgeClaimedPoints, ResumePointSigner } from '../session/resume-points';
import { InboundBudget } from '../session/inbound/inbound-queue';
import { InboundScheduler } from '../session/inbound/inbound-scheduler';
import { Extension } from '../wire/dialect';
import { encodeZoneHeaders } from '../wire/headers';
import { openDown, type DownLink } from './down-link';
import type { ZoneSyncOptions } from './zone-sync-options';
import { pingFailure, pingHealth, GrpcZoneTransport, type ZoneTransport } from './zone-transport';
import { headersOf, type SessionContext } from './session-context';
import { openUp } from './up-link';

/** The replica of the global that a zone has its session with. */
export interface GlobalReplica {
  readonly instance: string;
  readonly version: string;
}

/** One session with the global: both streams. */
export interface Connection {
  readonly causeway: boolean;
  /** Undefined with a plain Kuma global. */
  readonly session: number | undefined;
  /** Resolves with the reason when either stream ends. */
  readonly ended: Promise<string>;
  complete(): readonly string[];
  reports(): readonly KindReport[];
  /** What the global said of itself; undefined where it is plain Kuma. */
  readonly global: GlobalReplica | undefined;
  /** Since when, ms since 1970. */
  readonly openedAt: number;
  /** Looks whether the operator has accepted the global's new life. */
  checkConfirmation(): Promise<void>;
  /** A life of the global that is not accepted. */
  pendingIncarnation(): PendingIncarnation | undefined;
  /** Resolves when nothing of this session can be written any more. */
  close(): Promise<void>;
}

/** Shakes hands and opens both streams. Rejects when the global cannot be reached or refuses. */
export async function connect(options: ZoneSyncOptions): Promise<Connection> {
  const calls = options.dial?.() ?? dialGlobal(options);
  const stopped = new AbortController();
  const stop = (): void => {
    stopped.abort();
    calls.close();
  };
  const signal = AbortSignal.any([stopped.signal, options.term.signal]);
  try {
    const book = await PeerState.read(options.store, GLOBAL_PEER);
    const greeting = await shakeHands(calls, options, book);
    const signer = await ResumePointSigner.read(options.store, GLOBAL_PEER);
    const { head, resumePoints: points } = await judgeResumePoints({ options, greeting, signer });
    const floor = await options.store.floor();
    await caughtUp(options.index, head, signal);
    signal.throwIfAborted();
    const scheduler = new InboundScheduler({ clock: options.clock });
    const shared = {
      options,
      transport: calls,
      greeting,
      peerState: book,
      resumePoints: points,
      signer,
      floor,
      scheduler,
    };
    const budget = new InboundBudget(options.inbound);
    return open({ ...shared, budget, extensions: greeting?.features ?? [] }, stop);
  } catch (error) {
    stop();
    throw error;
  }
}

function dialGlobal({ address, credentials, clock }: ZoneSyncOptions): ZoneTransport {
  return new GrpcZoneTransport(address, typeof credentials === 'function' ? credentials() : credentials, clock);
}

async function shakeHands(
  calls: ZoneTransport,
  options: ZoneSyncOptions,
  book: PeerState,
): Promise<HandshakeResponse | undefined> {
  const head = await options.store.head();
  const request = HandshakeRequest.create({
    zone: options.zone,
    storeId: options.storeId,
    incarnation: head.incarnation,
    revision: head.revision,
    leaderEpoch: options.term.epoch,
    features: [...(options.features ?? Object.values(Extension))],
    instance: options.term.holder,
    version: options.version,
    resumePoints: [...book.resumePoints()].map(([kind, point]) => ({ kind, mac: '', ...point })),
  });
  const { zone, version, token } = options;
  const value = token?.();
  const headers = encodeZoneHeaders({ zone, version, ...(value === undefined ? {} : { token: value }) });
  return calls.handshake(request, headers, options.clock.now());
}

/** A global that holds what this store issued and has not shows that something was lost: a new life begins. */
async function judgeResumePoints({
  options,
  greeting,
  signer,
}: Pick<SessionContext, 'options' | 'greeting' | 'signer'>): Promise<
  Pick<SessionContext, 'resumePoints'> & { readonly head: StorePoint }
> {
  const head = await options.store.head();
  const claimed = greeting?.resumePoints.map(({ kind, ...point }) => [kind, point] as const) ?? [];
  const { points, isSetBack, doubtful } = judgeClaimedPoints(claimed, head, signer);
  if (isSetBack && options.maintenance) {
    options.logger.error('the global holds newer state than this store: it was set back, and begins a new life');
    await options.maintenance.newIncarnation();
    throw new Error('the store began a new life');
  }
  if (doubtful) {
    options.logger.warn('the global claims to hold state that this store never issued; it is told the whole state', {
      kind: doubtful.kind,
      revision: doubtful.revision,
    });
  }
  return { head, resumePoints: points };
}

function open(session: SessionContext, stop: () => void): Connection {
  const { term, registry } = session.options;
  let finish: (reason: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => (finish = resolve));
  const down = openDown(session, finish);
  const up = openUp(session, finish);
  const stopped = new AbortController();
  if (!session.greeting) {
    const pings = {
      calls: session.transport,
      headers: () => headersOf(session),
      clock: session.options.clock,
      signal: stopped.signal,
    };
    pingHealth(pings).catch((error: unknown) => finish(pingFailure(error)));
  }
  const abort = (): void => finish('the term ended');
  term.signal.addEventListener('abort', abort, { once: true });
  return {
    causeway: session.greeting !== undefined,
    session: session.greeting?.session,
    ended,
    complete: () => complete(registry, down),
    reports: () => [...down.reports(), ...up.reports()],
    global: session.greeting && { instance: session.greeting.instance, version: session.greeting.version },
    openedAt: session.options.clock.now(),
    checkConfirmation: () => down.checkConfirmation(),
    pendingIncarnation: () => down.pendingIncarnation(),
    close: async () => {
      term.signal.removeEventListener('abort', abort);
      stopped.abort();
      up.close();
      const closed = down.close();
      stop();
      await closed;
    },
  };
}

function complete(registry: Registry, down: DownLink): readonly string[] {
  return registry.kinds.map((kind) => kind.name).filter((kind) => down.isComplete(kind));
}
