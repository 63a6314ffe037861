import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import { Unauthenticated } from '@causeway/access';
import { DomainError, globalIdentity, Unavailable } from '@causeway/resources';
import { caughtUp } from '../caught-up';
import { ResumePointSigner } from '../session/resume-points';
import { ServerStream } from '../session/grpc-streams';
import type { EndReason, ListenedStream, PeerStream } from '../session/peer-stream';
import { peerText } from '../session/peer-limits';
import { decodeZoneHeaders, type ZoneHeaders } from '../wire/headers';
import { addressOf, TooManyAttempts } from './connection-limits';
import { callerOf } from './zone-authenticator';
import { DownStream } from './down-stream';
import type { LiveStream } from './live-sessions';
import type { GlobalParts } from './parts';
import type { StreamEnding } from './zones/zone-incidents';
import type { AcceptedStream } from './handshake-handler';
import { boundedErrorText, printableZone } from './unary-handlers';
import { UpStream } from './up-stream';
import type { StreamParts, ZoneStream } from './zone-stream';

/** A stream of a zone as gRPC gives it; messages are bytes. */
export type BytesCall = ServerDuplexStream<Buffer, Buffer>;

/** A stream of a zone, by gRPC or in memory. */
export interface IncomingStream {
  readonly stream: ListenedStream;
  readonly direction: 'up' | 'down';
  readonly headers: ZoneHeaders;
  /** Where the peer calls from; absent where the transport has no addresses. */
  readonly address?: string;
}

/** Serves the two streams of each zone. */
export class StreamHandler {
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
  async serve(arrived: IncomingStream, admitted: () => void = () => undefined): Promise<void> {
    const { direction, headers } = arrived;
    const inlet = this.parts.inbound.open(headers.zone, arrived.stream);
    const stream = this.recordingEnd(arrived);
    const { lifetime: life, queue } = inlet;
    try {
      const entrance = await this.parts.handshakes.acceptStream(headers, direction, arrived.address);
      admitted();
      const served = await this.begin({ accepted: entrance, stream, channel: inlet }, direction);
      const gone = this.keep({ entrance, served }, { ...arrived, stream });
      queue.deliver({
        message: (bytes) => served.message(bytes),
        drain: () => served.drain(),
        ended: (reason) => {
          life.abort();
          served.ended();
          gone(reason);
        },
      });
      const { store, index } = this.parts.options;
      const [head, floor] = await Promise.all([store.head(), store.floor()]);
      await caughtUp(index, head, life.signal);
      this.checkKnown(entrance.zone);
      served.open(floor);
    } catch (error) {
      this.refuse({ ...arrived, error });
      life.abort();
    }
  }

  private async serveCall(call: BytesCall, direction: 'up' | 'down'): Promise<void> {
    const headers = decodeZoneHeaders(call.metadata);
    const arrived = { stream: new ServerStream(call), direction, headers, address: addressOf(call.getPeer()) };
    await this.serve(arrived, () => call.sendMetadata(new Metadata()));
  }

  private async begin(parts: StreamParts, direction: 'up' | 'down'): Promise<ZoneStream> {
    if (direction === 'up') return UpStream.begin(this.parts, parts);
    const signer = await ResumePointSigner.read(this.parts.options.store, parts.accepted.zone);
    return new DownStream(this.parts, { ...parts, signer });
  }

  /** The stream, with its end remembered where what the zone sent is the reason. */
  private recordingEnd({ stream, direction, headers }: IncomingStream): PeerStream {
    return {
      write: (message) => stream.write(message),
      end: (reason, detail) => {
        if (reason === 'exhausted' || reason === 'malformed') this.noteEnd(headers.zone, { direction, reason, detail });
        stream.end(reason, peerText(detail));
      },
    };
  }

  private noteEnd(zone: string, end: Omit<StreamEnding, 'at'>): void {
    const { inbound: intake, endings: ends, options } = this.parts;
    if (end.reason === 'exhausted') intake.countEnd();
    options.logger.warn('a stream of a zone is ended because of what it sent', { zone, ...end });
    ends.note(zone, { ...end, at: options.clock.now() });
  }

  /** Its deletion and quarantine end the streams that they find; this one may have begun after that. Throws Unavailable. */
  private checkKnown(zone: string): void {
    const { index, registry } = this.parts.options;
    this.parts.quarantines.check(zone);
    const known = index.get(globalIdentity('Zone', zone));
    if (!known && registry.kind('Zone')) throw new Unavailable(`the Zone ${zone} was deleted`);
  }

  /** Ends a stream that could not begin. That says nothing of the zone: its caller may not be who it claims to be. */
  private refuse({
    stream,
    headers,
    direction,
    address = '',
    error,
  }: IncomingStream & { readonly error: unknown }): void {
    const zone = printableZone(headers);
    const reason = boundedErrorText(error);
    this.parts.refusals.warn(`${zone} ${address}`, 'a stream of a zone could not begin', {
      ...{ zone, direction, address },
      error: reason,
    });
    stream.end(endReasonOf(error), peerText(reason));
  }

  /** Keeps the stream among those of its session; the returned function takes it out. */
  private keep(
    { entrance, served }: ServedStream,
    { stream, direction, headers }: Omit<IncomingStream, 'stream'> & { readonly stream: PeerStream },
  ): (reason: string) => void {
    const { live, options, admissions, kumaInstances: plainLives } = this.parts;
    const { zone, session, causeway, instance, version } = entrance;
    const member: LiveStream = {
      session,
      direction,
      causeway,
      openedAt: options.clock.now(),
      version,
      zoneInstance: () => (causeway ? instance : (plainLives.of(zone) ?? '')),
      checkConfirmation: async () => served.checkConfirmation?.(),
      pendingIncarnation: () => served.pendingIncarnation?.(),
      reports: () => served.reports(),
      unanswered: () => served.unanswered?.() ?? 0,
      blockedSince: () => served.blockedSince?.(),
      close: (detail) => stream.end('superseded', detail),
    };
    if (!live.add(zone, member)) stream.end('superseded', `session ${session} has had this stream`);
    const unwatch = admissions.watch(callerOf(headers), (error) =>
      stream.end(endReasonOf(error), boundedErrorText(error)),
    );
    return (reason) => {
      unwatch();
      live.remove(zone, member, { since: options.clock.now(), reason });
      options.logger.info('a stream of a zone ended', { zone, session, direction, reason });
    };
  }
}

/** A stream that has begun. */
interface ServedStream {
  readonly entrance: AcceptedStream;
  readonly served: ZoneStream;
}

function endReasonOf(error: unknown): EndReason {
  if (error instanceof TooManyAttempts) return 'exhausted';
  if (error instanceof DomainError && error.type === 'Invalid') return 'malformed';
  if (error instanceof Unauthenticated) return 'unauthenticated';
  return error instanceof DomainError && error.type === 'Forbidden' ? 'refused' : 'unavailable';
}
