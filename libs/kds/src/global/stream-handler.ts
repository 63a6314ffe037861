import { globalIdentity, Unavailable } from '@causeway/resources';
import { waitUntilCaughtUp } from '@causeway/store';
import type { StreamAuthMonitor } from '../auth/stream-auth-monitor';
import type { InboundCapacity } from '../session/inbound/inbound-capacity';
import { sanitizePeerText } from '../session/peer-limits';
import { PeerState } from '../session/peer-state';
import type { ListenedStream, PeerStream } from '../session/peer-stream';
import type { CallerLog } from '@causeway/runtime';
import { ResumePointSigner } from '../session/resume-points';
import { deliver, type Direction, type SessionHalf } from '../session/session';
import type { ZoneHeaders } from '../wire/headers';
import { boundedErrorText, toEndReason, printableZone } from './call-failures';
import type { AcceptedStream, HandshakeHandler } from './handshake-handler';
import type { LiveSessions, LiveStream } from './live-sessions';
import { createInboundHalf, createOutboundHalf, type ZoneStream, type SessionHalfParts } from './session-halves';
import { toZoneCaller } from '../auth/zone-authenticator';
import type { WholeStates } from './zones/whole-states';
import type { StreamEnding, StreamEndings } from './zones/zone-incidents';

/** A stream that a zone has opened, by gRPC or in memory. */
export interface IncomingStream {
  readonly stream: ListenedStream;
  readonly direction: Direction;
  readonly headers: ZoneHeaders;
  /** Address of the peer; absent if the transport has no addresses. */
  readonly address?: string;
}

/** Dependencies of serving streams. */
export interface StreamHandlerParts extends SessionHalfParts {
  readonly live: LiveSessions;
  readonly handshakes: HandshakeHandler;
  readonly authMonitor: StreamAuthMonitor;
  readonly inbound: InboundCapacity;
  readonly endings: StreamEndings;
  readonly wholeStates: WholeStates;
  readonly callerLog: CallerLog;
}

/** One half of a session, and the stored peer state if the half receives. */
interface OpenHalf {
  readonly half: SessionHalf;
  readonly peerState?: PeerState;
  readonly incomplete?: LiveStream['incomplete'];
}

/** Serves the two streams of each zone. */
export class StreamHandler {
  constructor(private readonly parts: StreamHandlerParts) {}

  /** Serves a stream until it ends; calls `accepted` once its caller is authenticated. Never rejects. */
  async serve(incoming: IncomingStream, accepted: () => void = () => undefined): Promise<void> {
    const { inbound, handshakes, options } = this.parts;
    const { direction, headers, address } = incoming;
    const channel = inbound.open(headers.zone, incoming.stream);
    const stream = this.recordingEnd(incoming);
    try {
      const caller = await handshakes.acceptStream(headers, direction, address);
      accepted();
      const open = await this.open({ accepted: caller, stream, channel }, direction);
      const removed = this.register(open, caller, { ...incoming, stream });
      deliver(channel, open.half, removed);
      const caughtUp = waitUntilCaughtUp(options.store, options.index, channel.lifetime.signal);
      const [compactionRevision] = await Promise.all([options.store.compactionRevision(), caughtUp]);
      this.checkZone(caller.zone);
      open.half.open(compactionRevision);
      // Kuma zones may wait for the state that this stream is about to receive.
      if (direction === 'down') void this.parts.gate.check();
    } catch (error) {
      this.refuse(incoming, error);
      channel.lifetime.abort();
    }
  }

  private async open(stream: ZoneStream, direction: Direction): Promise<OpenHalf> {
    const { parts } = this;
    const { store } = parts.options;
    const { zone } = stream.accepted;
    if (direction === 'down') {
      return { half: createOutboundHalf(parts, stream, await ResumePointSigner.read(store, zone)) };
    }
    const peerState = await PeerState.read(store, zone, parts.quarantines.getDigests(zone));
    const half = createInboundHalf(parts, stream, peerState);
    return { half, peerState, incomplete: () => half.incompleteKinds() };
  }

  /** Wraps the stream so that its end is recorded if the zone's messages caused it. */
  private recordingEnd({ stream, direction, headers }: IncomingStream): PeerStream {
    const { writeCompressed } = stream;
    return {
      write: (message) => stream.write(message),
      ...(writeCompressed && { writeCompressed }),
      end: (reason, detail) => {
        if (reason === 'exhausted' || reason === 'malformed') this.record(headers.zone, { direction, reason, detail });
        stream.end(reason, sanitizePeerText(detail));
      },
    };
  }

  private record(zone: string, ending: Omit<StreamEnding, 'at'>): void {
    const { inbound, endings, options } = this.parts;
    if (ending.reason === 'exhausted') inbound.countEnd();
    options.logger.warn('a stream of a zone is ended because of what it sent', { zone, ...ending });
    endings.record(zone, { ...ending, at: options.clock.now() });
  }

  /** Deletion and quarantine of a Zone end its streams; this stream may have begun just after. Throws Unavailable, Forbidden. */
  private checkZone(zone: string): void {
    const { index, registry } = this.parts.options;
    this.parts.quarantines.check(zone);
    const known = index.get(globalIdentity('Zone', zone));
    if (!known && registry.kind('Zone')) throw new Unavailable(`the Zone ${zone} was deleted`);
  }

  /** Ends a stream that could not begin. It is not recorded for the zone: the caller may not be the zone it claims to be. */
  private refuse({ stream, headers, direction, address = '' }: IncomingStream, error: unknown): void {
    const zone = printableZone(headers);
    const reason = boundedErrorText(error);
    const fields = { zone, direction, address, error: reason };
    this.parts.callerLog.warn(`${zone} ${address}`, 'a stream of a zone could not begin', fields);
    stream.end(toEndReason(error), sanitizePeerText(reason));
  }

  /** Adds the stream to the live ones of its zone; the returned function removes it. */
  private register(
    { half, peerState, incomplete }: OpenHalf,
    accepted: AcceptedStream,
    { stream, direction, headers }: Omit<IncomingStream, 'stream'> & { readonly stream: PeerStream },
  ): (reason: string) => void {
    const { live, options, authMonitor, kumaIncarnations, wholeStates } = this.parts;
    const { zone, session, causeway, instance, version } = accepted;
    const open: LiveStream = {
      session,
      direction,
      causeway,
      version,
      half,
      openedAt: options.clock.now(),
      zoneInstance: () => (causeway ? instance : (kumaIncarnations.of(zone).current ?? '')),
      ...(peerState ? { peerState } : {}),
      ...(incomplete ? { incomplete } : {}),
      close: (detail) => stream.end('superseded', detail),
    };
    if (!live.add(zone, open)) stream.end('superseded', `session ${session} already had this stream`);
    const unwatch = authMonitor.watch(toZoneCaller(headers), (error) =>
      stream.end(toEndReason(error), boundedErrorText(error)),
    );
    return (reason) => {
      unwatch();
      wholeStates.ended(zone, open);
      live.remove(zone, open, { since: options.clock.now(), reason });
      options.logger.info('a stream of a zone ended', { zone, session, direction, reason });
    };
  }
}
