import type { EncodedResource } from '@causeway/xds-server';
import type { UnsupportedFeature } from '../../plane';
import type { PlaneLimits } from '../plane-engine';
import type { StatSnapshot } from '../stats';

/**
 * Command from the agent's process to a process that carries connections. `plane`: number of the dataplane; a machine
 * may have several.
 */
export type PlaneCommand = { readonly id: number; readonly plane: number } & (
  | { readonly order: 'open'; readonly limits: PlaneLimits }
  /** Stores resources; they are applied by `start` or `take`. */
  | { readonly order: 'put'; readonly resources: readonly EncodedResource[] }
  | { readonly order: 'remove'; readonly type: string; readonly names: readonly string[] }
  | { readonly order: 'start' }
  | { readonly order: 'take'; readonly type: string; readonly names: readonly string[] }
  | { readonly order: 'describe' }
  | { readonly order: 'stop'; readonly drainMs: number }
);

/** Message from such a process. Each command gets one response. */
export type PlaneReport =
  | { readonly report: 'done'; readonly id: number; readonly response: PlaneResponse }
  | {
      readonly report: 'needs';
      readonly plane: number;
      readonly type: string;
      readonly name: string;
      readonly isNeeded: boolean;
    };

export interface PlaneResponse {
  /** Why the resources cannot be applied. */
  readonly refusal?: string;
  readonly unsupported?: readonly UnsupportedFeature[];
  readonly stats?: StatSnapshot;
}

/** Both sides are this program, so the discriminating field is enough. */
export function isPlaneCommand(message: unknown): message is PlaneCommand {
  return typeof message === 'object' && message !== null && 'order' in message;
}

export function isPlaneReport(message: unknown): message is PlaneReport {
  return typeof message === 'object' && message !== null && 'report' in message;
}
