import { HandshakeRequest, type HandshakeResponse } from '@causeway/proto-gen';
import { errorText, onAbort } from '@causeway/runtime';
import { waitUntilCaughtUp } from '@causeway/store';
import { InboundCapacity } from '../session/inbound/inbound-capacity';
import type { InboundHalf, StoredPosition } from '../session/inbound/inbound-half';
import type { KindReport } from '../session/kind-report';
import { GLOBAL_PEER, PeerState } from '../session/peer-state';
import { evaluateClaimedPoints, ResumePointSigner } from '../session/resume-points';
import { deliver, type Direction, type SessionHalf } from '../session/session';
import { Extension } from '../wire/dialect';
import { encodeZoneHeaders } from '../wire/headers';
import { createInboundHalf, createOutboundHalf, type GlobalStream, type ZoneSessionParts } from './session-halves';
import type { ZoneSyncOptions } from './zone-sync-options';
import { GrpcZoneTransport, isUnauthenticated, pingFailure, pingHealth, type ZoneTransport } from './zone-transport';

/** The replica of the global that a zone has its session with. */
export interface GlobalReplica {
  readonly instance: string;
  readonly version: string;
}

/** One session with the global; it has two streams. */
export interface GlobalConnection {
  readonly causeway: boolean;
  /** Undefined with a plain Kuma global. */
  readonly session: number | undefined;
  /** Resolves with the reason when either stream ends. */
  readonly ended: Promise<string>;
  /** The kinds whose whole state has been stored in this session. */
  complete(): readonly string[];
  reports(): readonly KindReport[];
  /** See InboundHalf. */
  findPosition(kind: string): StoredPosition | undefined;
  /** Undefined with a plain Kuma global. */
  readonly global: GlobalReplica | undefined;
  /** ms since 1970. */
  readonly openedAt: number;
  /** Stored state of the global as a peer. */
  readonly peerState: PeerState;
  /** See ZoneSync. */
  renewToken(secret: string): Promise<string | undefined>;
  /** Resolves when no more writes of this session are under way. */
  close(): Promise<void>;
}

/** A session opened by a handshake, or with a plain Kuma global without one. */
interface OpenSession extends ZoneSessionParts {
  readonly transport: ZoneTransport;
  /** The zone token that the session was opened with. */
  readonly token: string | undefined;
  /** Undefined with a plain Kuma global. */
  readonly greeting: HandshakeResponse | undefined;
  /** Revision after which this store knows every deletion. */
  readonly compactionRevision: number;
}

/** Does the handshake with the replica at an address and opens both streams. Rejects if the global cannot be reached or refuses. */
export async function connect(options: ZoneSyncOptions, address: string): Promise<GlobalConnection> {
  await options.token?.refresh?.();
  const token = options.token?.current();
  const transport = options.dial?.() ?? dialGlobal(options, address);
  const stopped = new AbortController();
  const stop = (): void => {
    stopped.abort();
    transport.close();
  };
  const signal = AbortSignal.any([stopped.signal, options.term.signal]);
  try {
    const peerState = await PeerState.read(options.store, GLOBAL_PEER);
    const greeting = await shakeHands(transport, options, { peerState, token });
    const signer = await ResumePointSigner.read(options.store, GLOBAL_PEER);
    const resumePoints = await evaluateResumePoints(options, greeting, signer);
    const compactionRevision = await options.store.compactionRevision();
    await waitUntilCaughtUp(options.store, options.index, signal);
    signal.throwIfAborted();
    const { zone, index, registry, clock, tracer, logger } = options;
    const extensions = greeting?.features ?? [];
    const causeway = greeting !== undefined;
    const groups = extensions.includes(Extension.groups);
    const session = {
      role: 'zone',
      zone,
      causeway,
      groups,
      extensions,
      index,
      registry,
      clock,
      tracer,
      logger,
    } as const;
    return open(
      { options, session, transport, token, greeting, peerState, resumePoints, signer, compactionRevision },
      stop,
    );
  } catch (error) {
    stop();
    throw error;
  }
}

function dialGlobal({ credentials, clock }: ZoneSyncOptions, address: string): ZoneTransport {
  return new GrpcZoneTransport(address, typeof credentials === 'function' ? credentials() : credentials, clock);
}

async function shakeHands(
  transport: ZoneTransport,
  options: ZoneSyncOptions,
  { peerState, token }: Pick<OpenSession, 'peerState' | 'token'>,
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
    resumePoints: [...peerState.resumePoints()]
      // Otherwise points of deleted definitions would accumulate over the years.
      .filter(([kind]) => options.registry.kind(kind) !== undefined)
      .map(([kind, point]) => ({ kind, mac: '', ...point })),
  });
  const { zone, version } = options;
  const headers = encodeZoneHeaders({ zone, version, ...(token === undefined ? {} : { token }) });
  try {
    const greeting = await transport.handshake(request, headers, options.clock.now());
    options.token?.accepted(token);
    return greeting;
  } catch (error) {
    if (isUnauthenticated(error)) options.token?.refused(token, errorText(error));
    throw error;
  }
}

/**
 * Checks the global's resume points; one that this store issued and lacks proves a restore: a new incarnation begins.
 */
async function evaluateResumePoints(
  { store, maintenance, logger }: ZoneSyncOptions,
  greeting: HandshakeResponse | undefined,
  signer: ResumePointSigner,
): Promise<ZoneSessionParts['resumePoints']> {
  const head = await store.head();
  const claimed = greeting?.resumePoints.map(({ kind, ...point }) => [kind, point] as const) ?? [];
  const { points, isSetBack, doubtful } = evaluateClaimedPoints(claimed, head, signer);
  if (isSetBack && maintenance) {
    logger.error(
      'the global holds newer state than this store: it was restored from a backup, and begins a new incarnation',
    );
    await maintenance.newIncarnation();
    throw new Error('the store began a new incarnation');
  }
  if (doubtful) {
    const { kind, revision } = doubtful;
    logger.warn('the global claims to hold state that this store never issued; it is sent the whole state', {
      kind,
      revision,
    });
  }
  return points;
}

function open(session: OpenSession, stop: () => void): GlobalConnection {
  const { options, greeting, peerState } = session;
  const { term, clock } = options;
  let finish: (reason: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => (finish = resolve));
  const streams = openStreams(session, finish);
  const stopped = new AbortController();
  if (!greeting) {
    const headers = (): ReturnType<typeof createHeaders> => createHeaders(session);
    const pings = { transport: session.transport, headers, clock, signal: stopped.signal };
    pingHealth(pings).catch((error: unknown) => finish(pingFailure(error)));
  }
  // The term may be over: reading its signal checks the lease, also after the process was paused, before any timer runs.
  const forget = onAbort(term.signal, () => finish('the term ended'));
  return {
    causeway: greeting !== undefined,
    session: greeting?.session,
    ended,
    complete: () => options.registry.kinds.map(({ name }) => name).filter((kind) => streams.down.isComplete(kind)),
    reports: () => [...streams.down.reports(), ...streams.up.reports()],
    findPosition: (kind) => streams.down.findPosition(kind),
    global: greeting && { instance: greeting.instance, version: greeting.version },
    openedAt: clock.now(),
    peerState,
    renewToken: (secret) => renewToken(session, secret),
    close: async () => {
      forget();
      stopped.abort();
      const closed = streams.close();
      stop();
      await closed;
    },
  };
}

/** Resolves with the successor of the session's token; undefined if the global renews none. */
async function renewToken(session: OpenSession, secret: string): Promise<string | undefined> {
  const { options, greeting, transport } = session;
  if (!greeting) return undefined;
  const { zone, storeId, term } = options;
  const request = { zone, storeId, secret, instance: term.holder };
  return (await transport.renewToken?.(request, createHeaders(session)))?.token;
}

/** Both streams of a session. */
interface OpenStreams {
  readonly down: InboundHalf;
  readonly up: SessionHalf;
  /** Resolves when no more writes of the streams are under way. */
  close(): Promise<unknown>;
}

function openStreams(session: OpenSession, finish: (reason: string) => void): OpenStreams {
  const capacity = new InboundCapacity(session.options.clock, session.options.inbound);
  const closing: (() => Promise<void>)[] = [];
  const openStream = <H extends SessionHalf>(direction: Direction, halfOf: (stream: GlobalStream) => H): H => {
    const stream = session.transport.stream(direction, createHeaders(session));
    const channel = capacity.open(GLOBAL_PEER, stream);
    const half = halfOf({ stream, channel });
    const name = direction === 'down' ? 'GlobalToZoneSync' : 'ZoneToGlobalSync';
    deliver(channel, half, (reason) => finish(`${name}: ${reason}`));
    half.open(session.compactionRevision);
    closing.unshift(() => {
      channel.lifetime.abort();
      stream.end('shutdown', 'the session is over');
      return half.close();
    });
    return half;
  };
  const down = openStream('down', (stream) => createInboundHalf(session, stream));
  const up = openStream('up', (stream) => createOutboundHalf(session, stream));
  return { down, up, close: () => Promise.all(closing.map((close) => close())) };
}

/** Returns the headers of a stream of this session. */
function createHeaders({ options, greeting, session, token }: OpenSession): ReturnType<typeof encodeZoneHeaders> {
  const { zone, version } = options;
  const number = greeting?.session;
  return encodeZoneHeaders({
    zone,
    version,
    extensions: session.extensions,
    ...(number === undefined ? {} : { session: number }),
    ...(token === undefined ? {} : { token }),
  });
}
