import { HandshakeRequest, type HandshakeResponse } from '@causeway/proto-gen';
import type { IndexEvent } from '@causeway/store';
import { identityKey, type ControlPlane, type Kind, type Resource } from '@causeway/resources';
import { goesDown, isOfferedUp, type Peer } from '@causeway/sync';
import { caughtUp } from '../caught-up';
import { IndexOffer, itemOf } from '../stream/index-offer';
import { IntakeStream } from '../stream/intake-stream';
import { OfferStream } from '../stream/offer-stream';
import { CHUNK_BYTES } from '../wire/channel-options';
import { dialectOf, Extension } from '../wire/dialect';
import { encodeZoneHeaders } from '../wire/headers';
import { NODE_FEATURES } from '../wire/node';
import { encodeRequest } from '../wire/request';
import { ResourceEncoder } from '../wire/resource-encoder';
import type { ZoneSyncOptions } from './options';
import { ZoneCalls } from './zone-calls';

const FEATURES: readonly string[] = [Extension.json, Extension.meta, Extension.chunk, Extension.result];

/** Without cw-chunk changes stay below Kuma's limit (kds.md §1.1). */
const KUMA_MESSAGE_BYTES = 4 * 1024 * 1024;

/** One session with the global: both streams. */
export interface Connection {
  readonly causeway: boolean;
  /** Undefined with a plain Kuma global. */
  readonly session: number | undefined;
  /** Resolves with the reason when either stream ends. */
  readonly ended: Promise<string>;
  complete(): readonly string[];
  /** Resolves when nothing of this session can be written any more. */
  close(): Promise<void>;
}

/** Shakes hands and opens both streams. Rejects when the global cannot be reached or refuses. */
export async function connect(options: ZoneSyncOptions): Promise<Connection> {
  const calls = new ZoneCalls(options.address, options.credentials);
  const stopped = new AbortController();
  const stop = (): void => {
    stopped.abort();
    calls.close();
  };
  const signal = AbortSignal.any([stopped.signal, options.term.signal]);
  try {
    const greeting = await shakeHands(calls, options);
    await caughtUp(options.index, await options.store.head(), signal);
    return new Session(options, calls, greeting).open(stop);
  } catch (error) {
    stop();
    throw error;
  }
}

async function shakeHands(calls: ZoneCalls, options: ZoneSyncOptions): Promise<HandshakeResponse | undefined> {
  const head = await options.store.head();
  const request = HandshakeRequest.create({
    zone: options.zone,
    storeId: options.storeId,
    incarnation: head.incarnation,
    revision: head.revision,
    leaderEpoch: options.term.epoch,
    features: [...(options.features ?? FEATURES)],
    instance: options.term.holder,
    version: options.version,
  });
  return calls.handshake(request, encodeZoneHeaders(credentialsOf(options)), options.clock.now());
}

function credentialsOf({ zone, version, token }: ZoneSyncOptions) {
  const value = token?.();
  return { zone, version, ...(value === undefined ? {} : { token: value }) };
}

/** The streams of one session. */
class Session {
  private readonly peer: Peer;
  private readonly cp: ControlPlane;
  private readonly extensions: readonly string[];
  private readonly encoder: ResourceEncoder;

  constructor(
    private readonly options: ZoneSyncOptions,
    private readonly calls: ZoneCalls,
    private readonly greeting: HandshakeResponse | undefined,
  ) {
    this.peer = { zone: options.zone, causeway: greeting !== undefined };
    this.cp = { role: 'zone', zone: options.zone, federated: true };
    this.extensions = greeting?.features ?? [];
    this.encoder = new ResourceEncoder(this.cp);
  }

  open(stop: () => void): Connection {
    const { term } = this.options;
    let finish: (reason: string) => void = () => undefined;
    const ended = new Promise<string>((resolve) => (finish = resolve));
    const intake = this.openDown(finish);
    const closeUp = this.openUp(finish);
    const abort = (): void => finish('the term ended');
    term.signal.addEventListener('abort', abort, { once: true });
    return {
      causeway: this.peer.causeway,
      session: this.greeting?.session,
      ended,
      complete: () => this.options.registry.kinds.map((kind) => kind.name).filter((kind) => intake.isComplete(kind)),
      close: async () => {
        term.signal.removeEventListener('abort', abort);
        closeUp();
        stop();
        await intake.close();
      },
    };
  }

  private openDown(finish: (reason: string) => void): IntakeStream {
    const { zone, registry, index, store, clock, logger, term } = this.options;
    const stream = this.calls.stream('down', this.headers());
    const intake = new IntakeStream({
      stream,
      receiver: { role: 'zone', zone },
      zone,
      dialect: dialectOf(this.extensions),
      results: this.extensions.includes(Extension.result),
      registry,
      index,
      ready: Promise.resolve(),
      write: (changes) =>
        store.write({ changes, onRefusal: 'skip', fence: { epoch: term.epoch, holder: term.holder } }),
      now: () => clock.now(),
      logger: logger.child({ stream: 'down' }),
    });
    stream.listen({
      message: (bytes) => intake.message(bytes),
      drain: () => undefined,
      ended: (reason) => finish(`GlobalToZoneSync: ${reason}`),
    });
    const metadata = {
      version: this.options.version,
      config: '{}',
      controlPlaneId: term.holder,
      features: NODE_FEATURES,
    };
    for (const kind of registry.kinds.filter((candidate) => goesDown(candidate, this.peer))) {
      stream.write(encodeRequest({ type: 'subscribe', kind: kind.name, zone, metadata, held: {} }));
    }
    return intake;
  }

  private openUp(finish: (reason: string) => void): () => void {
    const { zone, index, registry, logger } = this.options;
    const stream = this.calls.stream('up', this.headers());
    const dialect = dialectOf(this.extensions);
    const chunked = this.extensions.includes(Extension.chunk);
    const isOffered = (kind: Kind, resource: Resource): boolean => isOfferedUp(kind, resource, this.peer, this.cp);
    const offering = new OfferStream({
      stream,
      offer: new IndexOffer({ index, registry, encoder: this.encoder }, dialect, isOffered),
      limits: { chunked, bytes: chunked ? CHUNK_BYTES : KUMA_MESSAGE_BYTES },
      controlPlane: zone,
      zone,
      ...(this.peer.causeway ? { incarnation: () => index.point?.incarnation ?? '' } : {}),
      logger: logger.child({ stream: 'up' }),
    });
    const observe = (event: IndexEvent): void => {
      if (event.reloaded) stream.end('unavailable', 'the zone loaded its state anew');
      for (const { id, before } of event.changes) {
        offering.mark(id.kind, identityKey(id), () => {
          const kind = registry.kind(id.kind);
          return before && kind && isOffered(kind, before) ? itemOf(this.encoder, before, dialect) : undefined;
        });
      }
      if (event.changes.length > 0) queueMicrotask(() => offering.pump());
    };
    const unsubscribe = index.subscribe(observe);
    stream.listen({
      message: (bytes) => offering.message(bytes),
      drain: () => offering.drain(),
      ended: (reason) => {
        unsubscribe();
        finish(`ZoneToGlobalSync: ${reason}`);
      },
    });
    offering.open();
    return unsubscribe;
  }

  private headers() {
    const session = this.greeting?.session;
    return encodeZoneHeaders({
      ...credentialsOf(this.options),
      ...(session === undefined ? {} : { session }),
      extensions: this.extensions,
    });
  }
}
