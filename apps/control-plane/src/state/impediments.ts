import type { Impediment, LeaderStatus } from '@causeway/runtime';
import type { PostgresBackend } from '@causeway/store-postgres';

/** Maximum duration of a change of the leader, in leases, also without Redis. */
const MAX_LEADERLESS_LEASES = 2;

/** State that every control plane depends on. */
export interface ImpedimentSources {
  readonly backend: Pick<PostgresBackend, 'status' | 'address'>;
  readonly leader: { status(): LeaderStatus | undefined };
  readonly leaseMs: number;
}

/** Returns what stops writes or traffic at this replica: Postgres that is away, and that nobody leads. */
export function storeImpediments({ backend, leader, leaseMs }: ImpedimentSources): readonly Impediment[] {
  const { listening, failure } = backend.status();
  if (!listening) return [postgresAway(backend.address, failure), ...leaderUnknown(leader.status())];
  const { leaderless = 0 } = leader.status() ?? {};
  if (leaderless <= MAX_LEADERLESS_LEASES * leaseMs) return [];
  return [
    {
      type: 'leader',
      reason: `no replica leads since ${Math.round(leaderless / 1_000)} s: what is written is kept, and nothing follows from it`,
      advice: 'see docs/guides/troubleshooting.md#causewaynoleader, and what the logs of the replicas say',
      stops: ['writes', 'traffic'],
    },
  ];
}

function postgresAway(address: string, failure: string | undefined): Impediment {
  const why = failure === undefined ? '' : `: ${failure}`;
  return {
    type: 'postgres',
    reason: `Postgres at ${address} is away${why}; reads are answered and proxies served from memory`,
    advice: 'see whether it runs, and what is between: docs/guides/troubleshooting.md#causewaypostgresaway',
    stops: ['writes', 'traffic'],
  };
}

/** Without Postgres nobody can lead for longer than a lease; a replica that leads still does not say so. */
function leaderUnknown(status: LeaderStatus | undefined): readonly Impediment[] {
  if (status?.leading === true) return [];
  return [
    {
      type: 'leader',
      reason: 'no leader is known while Postgres is away',
      advice: 'bring Postgres back: a replica leads again within seconds',
      stops: ['writes', 'traffic'],
    },
  ];
}
