import { Conflict, type JsonObject } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { MetadataEntry, ResourceStore } from '@causeway/store';
import type { RotationStep } from './authority-rotation';

/** Operator's request about a rotation: begin one, use the new authority without further waiting, or abandon it. */
export type RotationCommand =
  | {
      readonly type: 'rotate';
      /** Maximum time to wait for the acks of proxies and the propagation of trust, ms. */
      readonly wait: number;
      /** Skips the wait. */
      readonly force: boolean;
    }
  | { readonly type: 'force' }
  | { readonly type: 'abandon' };

/** Request that the leader has not executed yet. */
export interface RotationRequest {
  readonly order: RotationCommand;
  /** ms since 1970. */
  readonly at: number;
  /** User who made the request. */
  readonly by: string;
}

const REQUEST_NOTE = { area: 'workload-authority', key: 'request' } as const;

/** Metadata entry that removes the pending request. */
export const NO_REQUEST: MetadataEntry = { ...REQUEST_NOTE, value: null };

/** Returns the metadata entry of a request. */
export function toRequestEntry({ order, at, by }: RotationRequest): MetadataEntry {
  return { ...REQUEST_NOTE, value: { order: { ...order }, at, by } };
}

/** Throws Conflict if the current step does not permit the command. */
export function checkCommand({ type }: RotationCommand, step: RotationStep): void {
  const wanted = type === 'rotate' ? 'steady' : 'trusting';
  if (step.type !== wanted)
    throw new Conflict(`"${type}" needs a rotation at its step "${wanted}"; it is at "${step.type}"`);
}

/** Requests of operators, stored by any replica and executed by the leader; a newer one replaces an older. */
export class RotationRequests {
  constructor(
    private readonly store: Pick<ResourceStore, 'readMetadata' | 'write'>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Returns the pending request. Throws Unavailable. */
  async getPending(): Promise<RotationRequest | undefined> {
    return decodeRequest((await this.store.readMetadata(REQUEST_NOTE.area, REQUEST_NOTE.key)) ?? {});
  }

  /** Stores a request for the leader. Throws Unavailable. */
  async submit(order: RotationCommand, by: string): Promise<void> {
    const entry = toRequestEntry({ order, at: this.clock.now(), by });
    await this.store.write({ changes: [], onRefusal: 'abort', metadata: [entry] });
  }
}

function decodeRequest({ order, at, by }: JsonObject): RotationRequest | undefined {
  if (typeof at !== 'number' || typeof by !== 'string' || typeof order !== 'object' || order === null) return undefined;
  const { type, wait, force }: { readonly [field: string]: unknown } = { ...order };
  if (type === 'force' || type === 'abandon') return { order: { type }, at, by };
  const isWhole = type === 'rotate' && typeof wait === 'number' && typeof force === 'boolean';
  return isWhole ? { order: { type, wait, force }, at, by } : undefined;
}
