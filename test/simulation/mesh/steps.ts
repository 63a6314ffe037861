import type { LostPolicy } from '@causeway/sync';

/** Names of the zones that a simulation may have. */
export const ZONE_NAMES = ['east', 'west', 'north', 'south'] as const;

/** Something a user does on a control plane: `global`, or a zone's name. */
export type UserAction =
  | {
      readonly type: 'service';
      readonly on: string;
      readonly name: string;
      readonly port: number;
      readonly team: string;
      /** Kept out of sync by its label. */
      readonly hidden: boolean;
    }
  | {
      readonly type: 'dataplane';
      readonly on: string;
      readonly name: string;
      readonly service: string;
      readonly port: number;
      readonly ready: boolean;
    }
  | { readonly type: 'external'; readonly on: string; readonly name: string; readonly port: number }
  | { readonly type: 'multizone'; readonly on: 'global'; readonly name: string; readonly team: string }
  | {
      readonly type: 'generator';
      readonly on: string;
      readonly name: string;
      readonly template: string;
      readonly selects: 'meshService' | 'meshExternalService' | 'meshMultiZoneService';
    }
  | { readonly type: 'remove'; readonly on: string; readonly kind: string; readonly name: string }
  | {
      readonly type: 'zone';
      readonly zone: string;
      readonly enabled: boolean;
      /** Treatment of its services when it is lost; the configured rule if absent. */
      readonly lost?: { readonly policy: LostPolicy; readonly after: string };
    }
  /** The mesh that everything is in, made or deleted. */
  | { readonly type: 'mesh'; readonly exists: boolean };

/** End of a connection: both ends notice it at once, or late and apart. */
type BreakKind = 'reset' | 'half-open';

/** Something that happens to machines; times in ms. */
export type Mishap =
  | {
      readonly type: 'kill';
      readonly plane: string;
      readonly replica: number;
      readonly for: number;
      readonly how: BreakKind;
    }
  | { readonly type: 'stop'; readonly plane: string; readonly replica: number; readonly for: number }
  | { readonly type: 'pause'; readonly plane: string; readonly replica: number; readonly for: number }
  | { readonly type: 'away'; readonly plane: string; readonly replica: number; readonly for: number }
  | {
      readonly type: 'lag' | 'slow';
      readonly plane: string;
      readonly replica: number;
      readonly for: number;
      readonly ms: number;
    }
  | { readonly type: 'skew'; readonly plane: string; readonly replica: number; readonly ms: number }
  | { readonly type: 'depose'; readonly plane: string }
  /** Keeps a backup of the store; sets the store back to the last one kept. */
  | { readonly type: 'backup' | 'restore'; readonly plane: string }
  | { readonly type: 'break'; readonly zone: string; readonly how: BreakKind }
  | { readonly type: 'cut'; readonly zone: string; readonly for: number; readonly how: BreakKind };

/** One thing that happens at a time, ms from the beginning. */
export type Step = { readonly at: number } & (UserAction | Mishap);

/** A zone of a simulated mesh. */
interface ZoneShape {
  readonly name: string;
  readonly replicas: number;
}

/** A whole run: everything else follows from it. */
export interface Schedule {
  readonly seed: number;
  readonly globals: number;
  readonly zones: readonly ZoneShape[];
  /** Length of the prefix of each address range: 24 is more than enough, 29 runs out. */
  readonly prefix: number;
  /** Whether all processes start anew at the end, when nothing is left to do (I2, I10). */
  readonly restartsAtEnd: boolean;
  /** A zone that is cut off at the end and stays so: it comes to be lost. */
  readonly staysAway?: string | undefined;
  readonly steps: readonly Step[];
}

/** A schedule for people to read; `only` lines of it can be replayed by its seed. */
export function describeSchedule(schedule: Schedule): string {
  const { seed, globals, zones, prefix, restartsAtEnd, staysAway, steps } = schedule;
  const end = `${staysAway ? `, ${staysAway} stays away` : ''}${restartsAtEnd ? ', restarts at the end' : ''}`;
  const shape = zones.map(({ name, replicas }) => `${name}×${replicas}`).join(' ');
  return [
    `seed ${seed}: global×${globals} ${shape}, addresses /${prefix}${end}`,
    ...steps.map(({ at, ...action }) => `  ${String(at).padStart(6)} ms  ${JSON.stringify(action)}`),
  ].join('\n');
}
