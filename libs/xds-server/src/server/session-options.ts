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
  /** Maximum number of names of all types together. */
  readonly mostNames: number;
  readonly names: NameBudget;
  readonly budget: SendBudget<V>;
  /** Shared by all streams of a server. */
  readonly encoder: ResponseEncoder;
  /** Writes a framed message. */
  readonly send: (frame: Buffer) => void;
  /** Called when the status of this proxy may have changed. */
  readonly moved: (proxy: string) => void;
  /** Called when a proxy has rejected a response. */
  readonly rejected: (proxy: string, type: string, text: string) => void;
  /** Called on an error of this program while sending: the stream must end. */
  readonly failed: (error: unknown) => void;
}

/** Counters of all streams of a server. */
export interface SessionCounters {
  responses: number;
  resources: number;
  /** The number of resources that were not sent because the proxy held them: on reconnect, all of them. */
  unchanged: number;
  rejections: number;
  staleNonces: number;
}
