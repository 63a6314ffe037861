import type { Registry } from '@causeway/resources';
import type { Clock, Logger, Tracer } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import type { InboundChannel } from './inbound/inbound-capacity';
import type { MessageConsumer } from './inbound/inbound-queue';
import type { KindReport } from './kind-report';

/** Direction of one half of a session; `down` is from the global to the zone. */
export type Direction = 'down' | 'up';

/** One session from the point of view of its halves, on the global and in a zone alike. */
export interface Session {
  /** Role of this control plane. */
  readonly role: 'global' | 'zone';
  /** The zone of the session: the peer of a global; in a zone, this control plane. */
  readonly zone: string;
  /** Whether the peer has done a handshake; one that has not is plain Kuma. */
  readonly causeway: boolean;
  /** Whether both ends support kinds that are named by name and group; follows from `extensions`. */
  readonly groups: boolean;
  /** Extensions that both ends support. */
  readonly extensions: readonly string[];
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Tracer | undefined;
}

/** One direction of a session: `InboundHalf` receives the peer's state, `OutboundHalf` sends ours. */
export interface SessionHalf {
  /** Processes a message of the peer. If it returns a promise, the next message waits until it resolves; it never rejects. */
  message(bytes: Buffer): Promise<void> | void;
  /** The peer has read everything that was written to its stream. */
  drain(): void;
  /** Starts the half. The index must contain everything written before the session; the store must know every deletion after `compactionRevision`. */
  open(compactionRevision: number): void;
  /** Progress of each kind. */
  reports(): readonly KindReport[];
  /** Bytes sent and not acknowledged; 0 in the inbound half. */
  readonly unanswered: number;
  /** Since when the peer reads nothing although its buffers are full, ms since 1970; undefined while it reads. */
  readonly blockedSince: number | undefined;
  /** Resolves when no more writes of this half are under way. Idempotent. */
  close(): Promise<void>;
}

/** Delivers the messages of a stream to its half until the stream ends; then closes the half and calls `ended`. */
export function deliver({ queue, lifetime }: InboundChannel, half: SessionHalf, ended: (reason: string) => void): void {
  const consumer: MessageConsumer = {
    message: (bytes) => half.message(bytes),
    drain: () => half.drain(),
    ended: (reason) => {
      lifetime.abort(new Error(`the stream ended: ${reason}`));
      void half.close();
      ended(reason);
    },
  };
  queue.deliver(consumer);
}
