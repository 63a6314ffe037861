/*
 * 1,000 agents at one zone: the registration storm after a restart of the zone settles within 10 s, and no lease is
 * lost: times by `bench/agents.ts`. Also: libs/controllers/src/leases/lease-reaper.spec.ts,
 * libs/agent-service/src/proxies/proxy-certificates.spec.ts, test/scenarios/agent-leases.spec.ts.
 */
import { SimulatedAgent } from '../support/simulated-agent';
import { StormZone } from '../support/storm-zone';
import { until } from '../support/until';

const AGENTS = 20;

/** Agents without a proxy, at the program of a zone with Postgres. Needs a build. Times are for bench/agents.ts. */
describe('many agents at a zone', () => {
  let zone: StormZone;
  const agents: SimulatedAgent[] = [];
  const settled = (): Promise<unknown> =>
    until('every agent is settled', () => agents.every(({ settledAt }) => settledAt !== undefined));
  beforeAll(async () => {
    zone = await StormZone.start({ CAUSEWAY_AGENT_LEASE: '5s' });
    for (let n = 0; n < AGENTS; n++) agents.push(await SimulatedAgent.create(`agent-${n}`, zone.reached));
    agents.forEach((agent) => agent.start());
    await settled();
  });
  afterAll(async () => {
    await Promise.all(agents.map((agent) => agent.kill()));
    await zone.stop();
  });

  it('come back when their zone is killed and started again, and none loses its lease', async () => {
    const before = await zone.dataplanes();
    expect(before.size).toBe(AGENTS);
    await zone.kill();
    await until('they know', () => agents.every(({ settledAt }) => settledAt === undefined));
    const [gone] = agents.splice(0, 1);
    await gone?.kill();
    await zone.restart();
    await settled();
    // Leases are ended again, so those of the others were checked too.
    const after = await until('the one that does not come back is withdrawn', async () => {
      const found = await zone.dataplanes();
      return !found.has('agent-0') && found;
    });
    expect(after).toEqual(new Map([...before].filter(([name]) => name !== 'agent-0')));
    expect(await zone.leases()).toBe(AGENTS - 1);
  });
});
