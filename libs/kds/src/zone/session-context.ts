import type { Metadata } from '@grpc/grpc-js';
import type { HandshakeResponse } from '@causeway/proto-gen';
import type { SyncPeer } from '@causeway/sync';
import type { PeerState, ResumePoint } from '../session/peer-state';
import type { ResumePointSigner } from '../session/resume-points';
import { encodeZoneHeaders } from '../wire/headers';
import { InboundQueue, type MessageConsumer, type InboundBudget } from '../session/inbound/inbound-queue';
import type { InboundScheduler } from '../session/inbound/inbound-scheduler';
import type { ListenedStream } from '../session/peer-stream';
import type { ZoneSyncOptions } from './zone-sync-options';
import type { ZoneTransport } from './zone-transport';

/** What both streams of a zone's session share. */
export interface SessionContext {
  readonly options: ZoneSyncOptions;
  readonly transport: ZoneTransport;
  /** Undefined with a plain Kuma global. */
  readonly greeting: HandshakeResponse | undefined;
  readonly extensions: readonly string[];
  /** What is remembered of the global. */
  readonly peerState: PeerState;
  /** What the global shows that it holds of this store's state. */
  readonly resumePoints: ReadonlyMap<string, ResumePoint>;
  readonly signer: ResumePointSigner;
  /** Since when this store knows every deletion. */
  readonly floor: number;
  /** Bounds what waits of both streams. */
  readonly budget: InboundBudget;
  readonly scheduler: InboundScheduler;
}

/** The peer as the rules of sync see it: our own zone, and whether the global is Causeway. */
export function peerOf({ options, greeting }: SessionContext): SyncPeer {
  return { zone: options.zone, causeway: greeting !== undefined };
}

/** Headers of a stream of this session. */
export function headersOf({ options, greeting, extensions }: SessionContext): Metadata {
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
export function receive(
  { budget, scheduler }: SessionContext,
  stream: ListenedStream,
  consumer: MessageConsumer,
): void {
  new InboundQueue(stream, budget, { message: () => undefined, yieldTurn: scheduler.yieldTurn }).deliver(consumer);
}
