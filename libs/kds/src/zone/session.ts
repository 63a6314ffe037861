import type { Metadata } from '@grpc/grpc-js';
import type { HandshakeResponse } from '@causeway/proto-gen';
import type { Peer } from '@causeway/sync';
import type { PeerBook, Point } from '../peer-book';
import type { PointSigner } from '../resume-points';
import { encodeZoneHeaders } from '../wire/headers';
import { InboundQueue, type MessageConsumer } from '../stream/inbound-queue';
import type { IntakeBudget } from '../stream/intake-budget';
import type { IntakeScheduler } from '../stream/intake-scheduler';
import type { ListenedStream } from '../stream/peer-stream';
import type { ZoneSyncOptions } from './options';
import type { ZoneTransport } from './zone-calls';

/** What both streams of a zone's session share. */
export interface ZoneSession {
  readonly options: ZoneSyncOptions;
  readonly calls: ZoneTransport;
  /** Undefined with a plain Kuma global. */
  readonly greeting: HandshakeResponse | undefined;
  readonly extensions: readonly string[];
  /** What is remembered of the global. */
  readonly book: PeerBook;
  /** What the global shows that it holds of this store's state. */
  readonly points: ReadonlyMap<string, Point>;
  readonly signer: PointSigner;
  /** Since when this store knows every deletion. */
  readonly floor: number;
  /** Bounds what waits of both streams. */
  readonly budget: IntakeBudget;
  readonly scheduler: IntakeScheduler;
}

/** The peer as the rules of sync see it: our own zone, and whether the global is Causeway. */
export function peerOf({ options, greeting }: ZoneSession): Peer {
  return { zone: options.zone, causeway: greeting !== undefined };
}

/** Headers of a stream of this session. */
export function headersOf({ options, greeting, extensions }: ZoneSession): Metadata {
  const { zone, version, token } = options;
  const [session, value] = [greeting?.session, token?.()];
  return encodeZoneHeaders({
    zone,
    version,
    extensions,
    ...(session === undefined ? {} : { session }),
    ...(value === undefined ? {} : { token: value }),
  });
}

/** Takes what the global sends on a stream, under the bounds that both streams share. */
export function receive({ budget, scheduler }: ZoneSession, stream: ListenedStream, consumer: MessageConsumer): void {
  new InboundQueue(stream, budget, { message: () => undefined, rest: scheduler.rest }).deliver(consumer);
}
