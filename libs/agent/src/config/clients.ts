import { qualifiedName } from './qualified-name';
import type { AgentConfig } from './schema';

/** Default ports for redirected connections. */
const PRESET = { port: 15_001, reentryPort: 15_011 } as const;
/** Distance between the ports of two capturing proxies. */
const STEP = 20;

/** A Dataplane as which programs of the machine call. */
export interface Catcher {
  /** Its `qualifiedName`. */
  readonly dataplane: string;
  /** Users by name or number; undefined: everybody whom no other Dataplane names. */
  readonly users: readonly string[] | undefined;
  /** Port at which redirected connections arrive; at `reentryPort` first connections of HTTP enter again. */
  readonly port: number;
  readonly reentryPort: number;
}

/**
 * The Dataplanes that catch connections with `redirect`, in the order of the configuration: the first one, and those with `clients`. The
 * first has the ports of the configuration, each other one ports 20 higher than the one before.
 */
export function listCatchers({
  dataplanes,
  redirect,
}: Pick<AgentConfig, 'dataplanes' | 'redirect'>): readonly Catcher[] {
  const { port, reentryPort } = redirect ?? PRESET;
  return dataplanes
    .filter(({ clients }, i) => i === 0 || clients !== undefined)
    .map(({ name, namespace, clients }, i) => ({
      dataplane: qualifiedName({ name, namespace }),
      users: clients?.users,
      port: port + i * STEP,
      reentryPort: reentryPort + i * STEP,
    }));
}
