import type { Clock } from '@causeway/runtime';
import type { AdsForm, ResponseEncoder } from './ads-messages';
import type { ResourceSource } from './resource-source';
import type { Subscriber, Subscribers } from './subscribers';

export interface SessionOptions<V> {
  readonly form: AdsForm;
  readonly source: ResourceSource<V>;
  readonly subscribers: Subscribers<V>;
  readonly clock: Clock;
  readonly counters: SessionCounters;
  /** Most names of all types together. */
  readonly mostNames: number;
  /** Bytes that may still be sent; a session that gets none is pumped when there are some. */
  readonly budget: SendBudget<V>;
  /** One for all streams of a server. */
  readonly encoder: ResponseEncoder;
  /** Writes a message that has its frame. */
  readonly send: (frame: Buffer) => void;
  /** A proxy has rejected a response. */
  readonly rejected: (proxy: string, type: string, text: string) => void;
}

/** The bytes that all sessions have sent and that are not acked. */
export interface SendBudget<V> {
  isSpent(): boolean;
  spend(bytes: number): void;
  refund(bytes: number): void;
  wait(session: Subscriber<V>): void;
}

/** What happened, in all streams of a server. */
export interface SessionCounters {
  responses: number;
  resources: number;
  /** Resources that were not sent since the proxy held them: on reconnect, all of them. */
  unchanged: number;
  rejections: number;
  staleNonces: number;
}
