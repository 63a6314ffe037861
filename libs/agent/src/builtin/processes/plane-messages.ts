import type { EncodedResource } from '@causeway/xds-server';
import type { UnsupportedFeature } from '../../plane';
import type { PlaneLimits } from '../plane-engine';
import type { StatSnapshot } from '../stats';

/**
 * Command of the agent's process to a process that carries connections. `plane` distinguishes several dataplanes of one
 * machine.
 */
export type PlaneCommand = { readonly id: number; readonly plane: number } & (
  | { readonly order: 'open'; readonly limits: PlaneLimits }
  /** Resources are so from now on; nothing is done about it before `start` or `take`. */
  | { readonly order: 'put'; readonly resources: readonly EncodedResource[] }
  | { readonly order: 'remove'; readonly type: string; readonly names: readonly string[] }
  | { readonly order: 'start' }
  | { readonly order: 'take'; readonly type: string; readonly names: readonly string[] }
  | { readonly order: 'describe' }
  | { readonly order: 'stop'; readonly drainMs: number }
);

/** Message of such a process. Each command gets one response. */
export type PlaneReport =
  | { readonly report: 'done'; readonly id: number; readonly answer: PlaneResponse }
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

/** Both sides are this program: what has the mark of an order is one. */
export function isPlaneCommand(message: unknown): message is PlaneCommand {
  return typeof message === 'object' && message !== null && 'order' in message;
}

export function isPlaneReport(message: unknown): message is PlaneReport {
  return typeof message === 'object' && message !== null && 'report' in message;
}
