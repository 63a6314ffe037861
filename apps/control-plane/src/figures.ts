import type { Figure, FigureValue } from '@causeway/telemetry';
import type { Foundations } from './foundations';

/** What every control plane tells of its store and its leader (issue: metrics of the leader). */
export function foundationFigures(
  foundations: Pick<Foundations, 'index' | 'registry' | 'election' | 'leadership' | 'state'>,
): readonly Figure[] {
  const { index, registry, election, leadership, state } = foundations;
  const leader = (read: () => number | undefined) => (): FigureValue[] => {
    const value = read();
    return value === undefined ? [] : [{ value }];
  };
  return [
    {
      name: 'resources',
      help: 'Resources held, by kind',
      labels: ['kind'],
      read: () => registry.kinds.map((kind) => ({ labels: { kind: kind.name }, value: index.countOf(kind.name) })),
    },
    { name: 'store_revision', help: 'Revision this replica has taken in', read: leader(() => index.point?.revision) },
    { name: 'leader', help: '1 while this replica leads', read: leader(() => Number(election.status().leading)) },
    { name: 'leader_epoch', help: 'The epoch this replica led last', read: leader(() => election.status().epoch) },
    {
      name: 'leader_transitions_total',
      help: 'Terms this replica has led',
      read: leader(() => election.status().transitions),
    },
    {
      name: 'leader_redis_connected',
      help: '1 while the Redis of the lock answers; absent where the lease in Postgres decides alone',
      read: leader(() => {
        const connected = leadership.redisConnected();
        return connected === undefined ? undefined : Number(connected);
      }),
    },
    {
      name: 'postgres_listening',
      help: '1 while changes of the store are heard of at once',
      read: leader(() => Number(state.status().listening)),
    },
    {
      name: 'postgres_connections_waiting',
      help: 'Statements that wait for a connection',
      read: leader(() => state.status().waiting),
    },
    {
      name: 'leader_lease_age_seconds',
      help: 'Since the lease was last renewed',
      read: leader(() => {
        const age = election.status().leaseAge;
        return age === undefined ? undefined : age / 1_000;
      }),
    },
  ];
}
