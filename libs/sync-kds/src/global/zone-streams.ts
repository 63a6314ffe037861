import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import { DomainError, Unavailable } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import { Unauthenticated } from '../auth/unauthenticated';
import { caughtUp } from '../caught-up';
import { ServerStream } from '../stream/grpc-streams';
import type { EndReason, ListenedStream, PeerStream, StreamListener } from '../stream/peer-stream';
import { decodeZoneHeaders, type ZoneHeaders } from '../wire/headers';
import { callerOf } from './auth';
import { DownStream } from './down-stream';
import type { SessionMember } from './live-sessions';
import type { GlobalParts } from './parts';
import type { Entrance } from './zone-door';
import { UpStream } from './up-stream';
import type { ZoneStream } from './zone-stream';

/** A stream of a zone as gRPC gives it; messages are bytes. */
export type BytesCall = ServerDuplexStream<Buffer, Buffer>;

/** A stream of a zone, by gRPC or in memory. */
export interface ArrivedStream {
  readonly stream: ListenedStream;
  readonly direction: 'up' | 'down';
  readonly headers: ZoneHeaders;
}

/** Serves the two streams of each zone. */
export class ZoneStreams {
  constructor(private readonly parts: GlobalParts) {}

  /** GlobalToZoneSync: what the zone may know. */
  async down(call: BytesCall): Promise<void> {
    await this.serveCall(call, 'down');
  }

  /** ZoneToGlobalSync: what the zone has. */
  async up(call: BytesCall): Promise<void> {
    await this.serveCall(call, 'up');
  }

  /** Serves a stream that has arrived by any transport; `admitted` is called once its caller is let in. */
  async serve(arrived: ArrivedStream, admitted: () => void = () => undefined): Promise<void> {
    const { stream, direction, headers } = arrived;
    const held = hold(stream);
    try {
      const entrance = await this.parts.door.enter(headers, direction);
      admitted();
      const served = await this.begin(entrance, arrived);
      const gone = this.keep({ entrance, served }, arrived);
      const ended = new AbortController();
      held.release({
        message: (bytes) => served.message(bytes),
        drain: () => served.drain(),
        ended: (reason) => {
          ended.abort();
          served.ended();
          gone(reason);
        },
      });
      const { store, index } = this.parts.options;
      const [head, floor] = await Promise.all([store.head(), store.floor()]);
      await caughtUp(index, head, ended.signal);
      this.checkKnown(entrance.zone);
      served.open(floor);
    } catch (error) {
      this.refuse({ zone: headers.zone, direction, error }, stream);
    }
  }

  private async serveCall(call: BytesCall, direction: 'up' | 'down'): Promise<void> {
    const arrived = { stream: new ServerStream(call), direction, headers: decodeZoneHeaders(call.metadata) };
    await this.serve(arrived, () => call.sendMetadata(new Metadata()));
  }

  private async begin(entrance: Entrance, { stream, direction }: ArrivedStream): Promise<ZoneStream> {
    if (direction === 'up') return UpStream.begin(this.parts, entrance, stream);
    return new DownStream(this.parts, entrance, stream);
  }

  /** Its deletion ends the streams that it finds; this one may have begun after that. Throws Unavailable. */
  private checkKnown(zone: string): void {
    const { index, registry } = this.parts.options;
    const known = index.get({ kind: 'Zone', mesh: '', zone: '', namespace: '', name: zone });
    if (!known && registry.kind('Zone')) throw new Unavailable(`the Zone ${zone} was deleted`);
  }

  private refuse(
    { zone, direction, error }: { readonly zone: string; readonly direction: string; readonly error: unknown },
    stream: PeerStream,
  ): void {
    this.parts.options.logger.warn('a stream of a zone could not begin', { zone, direction, error: errorText(error) });
    stream.end(endReasonOf(error), errorText(error));
  }

  /** Keeps the stream among those of its session; the returned function takes it out. */
  private keep({ entrance, served }: Served, { stream, direction, headers }: ArrivedStream): (reason: string) => void {
    const { live, options, admissions, plainLives } = this.parts;
    const { zone, session, causeway, instance, version } = entrance;
    const member: SessionMember = {
      session,
      direction,
      causeway,
      openedAt: options.clock.now(),
      version,
      zoneInstance: () => (causeway ? instance : (plainLives.of(zone) ?? '')),
      heedOperator: async () => served.heedOperator?.(),
      pendingLife: () => served.pendingLife?.(),
      reports: () => served.reports(),
      close: (detail) => stream.end('superseded', detail),
    };
    if (!live.enter(zone, member)) stream.end('superseded', `session ${session} has had this stream`);
    const unwatch = admissions.watch(callerOf(headers), (error) => stream.end(endReasonOf(error), errorText(error)));
    return (reason) => {
      unwatch();
      live.leave(zone, member, { since: options.clock.now(), reason });
      options.logger.info('a stream of a zone ended', { zone, session, direction, reason });
    };
  }
}

/** A stream that has begun. */
interface Served {
  readonly entrance: Entrance;
  readonly served: ZoneStream;
}

function endReasonOf(error: unknown): EndReason {
  if (error instanceof Unauthenticated) return 'unauthenticated';
  return error instanceof DomainError && error.type === 'Forbidden' ? 'refused' : 'unavailable';
}

/** Keeps what arrives before the caller is known. */
function hold(stream: ListenedStream): { release(listener: StreamListener): void } {
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
