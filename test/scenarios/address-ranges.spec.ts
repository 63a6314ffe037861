import { findCondition, isJsonObject, type JsonObject } from '@causeway/resources';
import { silentLogger, systemClock, type LogFields, type Logger } from '@causeway/runtime';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import type { PlaneEnvironment } from '../support/process-plane';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

const FIRST = '10.7.0.0/30';
const SECOND = '10.8.0.0/29';

const rangeOf = (range: string, rest = '300s'): PlaneEnvironment => ({
  CAUSEWAY_VIP_RANGE_MESHSERVICE: range,
  CAUSEWAY_VIP_COOLDOWN: rest,
});

describe('the address ranges of a zone, from start to start', () => {
  let database: TestDatabase;
  let zone: ZoneProgram | undefined;
  /** Lines that it logged since it started. */
  let lines: (readonly [message: string, fields: LogFields])[] = [];

  beforeAll(async () => {
    database = await createMigratedDatabase();
  });
  afterAll(async () => {
    await zone?.stop();
    await database.drop();
  });

  async function start(env: PlaneEnvironment): Promise<ZoneProgram> {
    await zone?.stop();
    lines = [];
    const keep = (message: string, fields: LogFields = {}): void => void lines.push([message, fields]);
    const logger: Logger = { ...silentLogger, info: keep, warn: keep, child: () => logger };
    zone = await ZoneProgram.start({ DATABASE_URL: database.url, ...env }, systemClock, logger);
    await zone.untilLeading();
    return zone;
  }

  const path = (name: string): string => `/meshes/default/meshservices/${name}`;

  async function put(name: string): Promise<void> {
    const body = { type: 'MeshService', mesh: 'default', name, spec: { ports: [{ port: 80 }] } };
    await zone?.put(path(name), body);
  }

  async function status(name: string): Promise<JsonObject> {
    const answer = await zone?.fetch(path(name));
    const { status: found } = (answer?.ok ? await answer.json() : {}) as { status?: JsonObject };
    return found ?? {};
  }

  async function address(name: string): Promise<string> {
    const { vip } = await status(name);
    return isJsonObject(vip) && typeof vip['ip'] === 'string' ? vip['ip'] : '';
  }

  /** Resolves with the addresses once each of these has one with the prefix. */
  const addresses = (prefix: string, ...names: readonly string[]): Promise<readonly string[]> =>
    until(`${names.join()} have addresses ${prefix}`, async () => {
      const all = await Promise.all(names.map(address));
      return all.every((ip) => ip.startsWith(prefix)) && all;
    });

  async function metric(name: string): Promise<number> {
    const diagnostics = lines.find(([, fields]) => 'diagnostics' in fields)?.[1]['diagnostics'];
    const text = await (await fetch(`${String(diagnostics)}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length));
  }

  const pool = (part: string): Promise<number> => metric(`causeway_vip_pool_${part}{kind="MeshService"}`);

  it('I1 I2: another range: all move; back again, each has its old address, and no old one goes to another early', async () => {
    await start(rangeOf(FIRST));
    for (const name of ['a', 'b', 'c']) await put(name);
    const first = await addresses('10.7.0.', 'a', 'b', 'c');
    expect([await pool('size'), await pool('used'), await pool('cooling')]).toEqual([4, 3, 0]);

    await start(rangeOf(SECOND));
    await addresses('10.8.0.', 'a', 'b', 'c');
    await zone?.delete(path('c'));
    await put('d');
    await addresses('10.8.0.', 'd');

    await start(rangeOf(FIRST));
    expect(await addresses('10.7.0.', 'a', 'b')).toEqual(first.slice(0, 2));
    await addresses('10.7.0.', 'd');
    await put('e');
    // Only the address that c had is left; it is cooling.
    const denied = await until('e is told that it has none', async () =>
      findCondition(await status('e'), 'VIPAllocated'),
    );
    expect(denied).toMatchObject({
      status: 'False',
      reason: 'RangeExhausted',
      message: 'no address of 10.7.0.0-10.7.0.3 is free',
    });
    expect(await address('e')).toBe('');
    expect([await pool('size'), await pool('used'), await pool('cooling')]).toEqual([4, 3, 1]);
    expect(first).not.toContain(await address('d'));
  });

  it('an exhausted range heals by itself when the rest is over', async () => {
    await start(rangeOf(FIRST, '10s'));
    expect(await addresses('10.7.0.', 'e')).toHaveLength(1);
    const healed = await until('e is told that it has one', async () => {
      const condition = findCondition(await status('e'), 'VIPAllocated');
      return condition?.['status'] === 'True' && condition;
    });
    expect(healed).toMatchObject({ reason: 'Allocated' });
    expect([await pool('used'), await pool('cooling')]).toEqual([4, 0]);
  });

  it('each start is an epoch of its own, which the metrics of the leader say (peers 61)', async () => {
    expect([await metric('causeway_leader'), await metric('causeway_leader_transitions_total')]).toEqual([1, 1]);
    expect(await metric('causeway_leader_epoch')).toBeGreaterThanOrEqual(4);
    expect(await metric('causeway_leader_lease_age_seconds')).toBeGreaterThanOrEqual(0);
  });

  it('a range of IPv6 is taken', async () => {
    await start(rangeOf('fd00:7::/64'));
    await addresses('fd00:7::', 'a', 'b', 'd', 'e');
  });

  it('T001-10: the seed’s range is normalised and the others are carved out; public ones need force; each with a warning', async () => {
    await start({
      ...rangeOf('241.0.0.0/4'),
      CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE: '198.51.0.0/16',
      CAUSEWAY_VIP_RANGE_FORCE: 'true',
    });
    await addresses('240.', 'a', 'b', 'd', 'e');
    const warnings = lines
      .filter(([message]) => message === 'an address range was adjusted')
      .map(([, { warning }]) => String(warning))
      .join('\n');
    expect(warnings).toContain('240.0.0.0/4');
    expect(warnings).toContain('243.0.0.0-243.255.255.255 of MeshMultiZoneService is left out');
    expect(warnings).toContain('198.51.0.0/16');
  });
});
