import { formatQualifiedName } from './qualified-name';
import type { AgentConfig } from './schema';

/** Default ports for redirected connections. */
const PRESET = { port: 15_001, reentryPort: 15_011 } as const;
/** Distance between the ports of two capturing proxies. */
const PORT_STEP = 20;

/** Dataplane whose identity programs of the machine use as clients. */
export interface CapturingDataplane {
  /** Its qualified name. */
  readonly dataplane: string;
  /** Users by name or number; undefined: all users that no other Dataplane names. */
  readonly users: readonly string[] | undefined;
  /** Port that receives redirected connections; `reentryPort` receives HTTP connections a second time. */
  readonly port: number;
  readonly reentryPort: number;
}

/**
 * Lists the Dataplanes that capture connections with `redirect`, in configuration order: the first one, and those with
 * `clients`. The first has the configured ports, each further one ports 20 higher.
 */
export function listCapturingDataplanes({
  dataplanes,
  redirect,
}: Pick<AgentConfig, 'dataplanes' | 'redirect'>): readonly CapturingDataplane[] {
  const { port, reentryPort } = redirect ?? PRESET;
  return dataplanes
    .filter(({ clients }, i) => i === 0 || clients !== undefined)
    .map(({ name, namespace, clients }, i) => ({
      dataplane: formatQualifiedName({ name, namespace }),
      users: clients?.users,
      port: port + i * PORT_STEP,
      reentryPort: reentryPort + i * PORT_STEP,
    }));
}
