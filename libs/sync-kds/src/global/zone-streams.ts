import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import { DomainError } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import { goesUp, type Peer } from '@causeway/sync';
import { caughtUp } from '../caught-up';
import { ServerStream } from '../stream/grpc-streams';
import { IntakeStream } from '../stream/intake-stream';
import { OfferStream } from '../stream/offer-stream';
import type { PeerStream, StreamListener } from '../stream/peer-stream';
import { dialectOf, Extension } from '../wire/dialect';
import { decodeZoneHeaders } from '../wire/headers';
import { NODE_FEATURES } from '../wire/node';
import { encodeRequest } from '../wire/request';
import type { Audience } from './audience';
import type { LiveSessions, SessionMember } from './live-sessions';
import type { GlobalSyncOptions } from './options';
import type { Entrance, ZoneDoor } from './zone-door';

/** A stream of a zone as gRPC gives it; messages are bytes. */
export type BytesCall = ServerDuplexStream<Buffer, Buffer>;

/** What serving a stream needs beside the global's own parts. */
export interface ZoneStreamsOptions extends GlobalSyncOptions {
  readonly audience: Audience;
  readonly live: LiveSessions;
  readonly door: ZoneDoor;
  readonly chunkBytes: number;
}

/** Without cw-chunk a first state goes in one message and changes stay below Kuma's limit (kds.md §1.1). */
const KUMA_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Serves the two streams of each zone. */
export class ZoneStreams {
  constructor(private readonly options: ZoneStreamsOptions) {}

  /** GlobalToZoneSync: what the zone may know. */
  async down(call: BytesCall): Promise<void> {
    const stream = new ServerStream(call);
    const held = hold(stream);
    const entrance = await this.enter(call, stream, 'down');
    if (!entrance) return;
    const { audience, logger } = this.options;
    const peer: Peer = { zone: entrance.zone, causeway: entrance.causeway };
    const dialect = dialectOf(entrance.extensions);
    const chunked = entrance.extensions.includes(Extension.chunk);
    const offering = new OfferStream({
      stream,
      offer: audience.offerFor(peer, dialect),
      limits: { chunked, bytes: chunked ? this.options.chunkBytes : KUMA_MESSAGE_BYTES },
      controlPlane: 'global',
      zone: entrance.zone,
      ...(entrance.causeway ? { incarnation: () => this.options.index.point?.incarnation ?? '' } : {}),
      logger: logger.child({ zone: entrance.zone, stream: 'down' }),
    });
    const listener = { peer, dialect, stream: offering };
    const gone = this.keep(entrance, 'down', stream);
    const ended = new AbortController();
    audience.join(listener);
    held.release({
      message: (bytes) => offering.message(bytes),
      drain: () => offering.drain(),
      ended: (reason) => {
        ended.abort();
        audience.leave(listener);
        gone(reason);
      },
    });
    await this.whenCaughtUp(stream, ended.signal).then(() => offering.open(), ignore);
  }

  /** ZoneToGlobalSync: what the zone has. */
  async up(call: BytesCall): Promise<void> {
    const stream = new ServerStream(call);
    const held = hold(stream);
    const entrance = await this.enter(call, stream, 'up');
    if (!entrance) return;
    const ended = new AbortController();
    const gone = this.keep(entrance, 'up', stream);
    const intake = this.intake(entrance, stream, this.whenCaughtUp(stream, ended.signal));
    held.release({
      message: (bytes) => intake.message(bytes),
      drain: () => undefined,
      ended: (reason) => {
        ended.abort();
        gone(reason);
      },
    });
    this.subscribe(entrance, stream);
  }

  private intake(entrance: Entrance, stream: PeerStream, ready: Promise<void>): IntakeStream {
    const { zone, session, extensions } = entrance;
    const { store, registry, index, clock, logger } = this.options;
    ready.catch(ignore);
    return new IntakeStream({
      stream,
      receiver: { role: 'global', from: zone },
      zone,
      dialect: dialectOf(extensions),
      results: extensions.includes(Extension.result),
      registry,
      index,
      ready,
      write: (changes) => store.write({ changes, onRefusal: 'skip', session: { zone, session } }),
      now: () => clock.now(),
      logger: logger.child({ zone, stream: 'up' }),
    });
  }

  private subscribe({ zone, causeway }: Entrance, stream: PeerStream): void {
    const { version, instance } = this.options;
    const metadata = { version, config: '', controlPlaneId: instance, features: NODE_FEATURES };
    for (const kind of this.options.registry.kinds) {
      if (!goesUp(kind, { zone, causeway })) continue;
      stream.write(encodeRequest({ type: 'subscribe', kind: kind.name, zone, metadata, held: {} }));
    }
  }

  private async enter(call: BytesCall, stream: PeerStream, direction: 'up' | 'down'): Promise<Entrance | undefined> {
    const headers = decodeZoneHeaders(call.metadata);
    try {
      const entrance = await this.options.door.enter(headers, direction);
      call.sendMetadata(new Metadata());
      return entrance;
    } catch (error) {
      const forbidden = error instanceof DomainError && error.type === 'Forbidden';
      this.options.logger.warn('a stream of a zone was refused', {
        zone: headers.zone,
        direction,
        error: errorText(error),
      });
      stream.end(forbidden ? 'refused' : 'unavailable', errorText(error));
      return undefined;
    }
  }

  /** Keeps the stream among those of its session; the returned function takes it out. */
  private keep({ zone, session }: Entrance, direction: 'up' | 'down', stream: PeerStream): (reason: string) => void {
    const member: SessionMember = { session, direction, close: (detail) => stream.end('superseded', detail) };
    if (!this.options.live.enter(zone, member)) stream.end('superseded', `session ${session} has had this stream`);
    return (reason) => {
      this.options.live.leave(zone, member);
      this.options.logger.info('a stream of a zone ended', { zone, session, direction, reason });
    };
  }

  private async whenCaughtUp(stream: PeerStream, signal: AbortSignal): Promise<void> {
    try {
      await caughtUp(this.options.index, await this.options.store.head(), signal);
    } catch (error) {
      stream.end('unavailable', errorText(error));
      throw error;
    }
  }
}

/** Keeps what arrives before the caller is known. */
function hold(stream: ServerStream): { release(listener: StreamListener): void } {
  const early: Buffer[] = [];
  let listener: StreamListener | undefined;
  let over: string | undefined;
  stream.listen({
    message: (bytes) => (listener ? listener.message(bytes) : void early.push(bytes)),
    drain: () => listener?.drain(),
    ended: (reason) => {
      over = reason;
      listener?.ended(reason);
    },
  });
  return {
    release: (next) => {
      listener = next;
      for (const bytes of early.splice(0)) next.message(bytes);
      if (over !== undefined) next.ended(over);
    },
  };
}

function ignore(): void {
  // The stream has been ended with the reason.
}
