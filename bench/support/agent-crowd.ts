import { SimulatedAgent, type SimulatedZone } from '../../test/support/simulated-agent';

/** A crowd of simulated agents in a process of its own. */
export type CrowdOrder =
  | { readonly type: 'create'; readonly zone: SimulatedZone; readonly first: number; readonly agents: number }
  | { readonly type: 'start' }
  | { readonly type: 'look' };

/** State of a crowd of agents: how many are settled, when the last one settled (ms since 1970), and what one of the others waits for. */
export interface CrowdAnswer {
  readonly settled: number;
  readonly last: number;
  readonly reason: string;
}

const agents: SimulatedAgent[] = [];

/** Creates agents with their keys, as each machine does for itself before it joins. */
async function create({ zone, first, agents: count }: Extract<CrowdOrder, { type: 'create' }>): Promise<void> {
  for (let n = first; n < first + count; n++) agents.push(await SimulatedAgent.create(`agent-${n}`, zone));
}

async function follow(order: CrowdOrder): Promise<void> {
  if (order.type === 'create') await create(order);
  if (order.type === 'start') agents.forEach((agent) => agent.start());
}

function look(): CrowdAnswer {
  const times = agents.flatMap(({ settledAt }) => settledAt ?? []);
  const waiting = agents.find(({ settledAt }) => settledAt === undefined);
  return { settled: times.length, last: Math.max(0, ...times), reason: waiting?.reason ?? '' };
}

process.on('message', (order: CrowdOrder) => void follow(order).then(() => process.send?.(look())));
process.on('disconnect', () => process.exit(0));
