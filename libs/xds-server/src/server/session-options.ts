import type { Clock } from '@causeway/runtime';
import type { AdsForm, ResponseEncoder } from './ads-messages';
import type { NameBudget } from './name-budget';
import type { ResourceSource } from './resource-source';
import type { SendBudget } from './send-budget';
import type { Subscribers } from './subscribers';

export interface SessionOptions<V> {
  readonly form: AdsForm;
  readonly source: ResourceSource<V>;
  readonly subscribers: Subscribers<V>;
  readonly clock: Clock;
  readonly counters: SessionCounters;
  /** Most names of all types together. */
  readonly mostNames: number;
  readonly names: NameBudget;
  readonly budget: SendBudget<V>;
  /** One for all streams of a server. */
  readonly encoder: ResponseEncoder;
  /** Writes a message that has its frame. */
  readonly send: (frame: Buffer) => void;
  /** The status of this proxy may differ from now on. */
  readonly moved: (proxy: string) => void;
  /** A proxy has rejected a response. */
  readonly rejected: (proxy: string, type: string, text: string) => void;
  /** A mistake of ours while something was sent: the stream is to end. */
  readonly failed: (error: unknown) => void;
}

/** Counters of all streams of a server. */
export interface SessionCounters {
  responses: number;
  resources: number;
  /** Resources that were not sent since the proxy held them: on reconnect, all of them. */
  unchanged: number;
  rejections: number;
  staleNonces: number;
}
