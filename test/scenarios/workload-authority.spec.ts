import { randomBytes } from 'node:crypto';
import { createTrustLoop } from '@causeway/controllers';
import { LoopRunner } from '@causeway/loops';
import { SealingKeys, ZoneAuthority } from '@causeway/identity';
import { silentLogger, systemClock } from '@causeway/runtime';
import { PostgresHomes } from '../support/postgres-homes';
import { formsOfKey, RecordedWay, tablesOf } from '../support/secret-search';
import { TestGlobal, TestZone } from '../support/sync-mesh';

describe("the key of a zone's authority", () => {
  const homes = new PostgresHomes();
  const open: { close(): Promise<unknown> }[] = [];
  afterAll(async () => {
    for (const one of open.reverse()) await one.close();
    await homes.drop();
  });

  it('is in no other store and on no wire, while its certificate is in all of them; in its own store it is sealed', async () => {
    const global = new TestGlobal({}, await homes.state('global'));
    const east = new TestZone('east', {}, await homes.state('east'));
    const west = new TestZone('west', {}, await homes.state('west'));
    open.push(global, east, west);
    await global.put('Mesh', 'default', {});
    await global.serve();
    const ways = [new RecordedWay(global.port), new RecordedWay(global.port)];
    open.push(...ways);
    const [toEast, toWest] = await Promise.all(ways.map((way) => way.open()));
    if (!toEast || !toWest) throw new Error('no way');
    await Promise.all([east.join(toEast), west.join(toWest)]);

    const parsed = SealingKeys.parse(`k:${randomBytes(32).toString('base64')}`);
    if (!parsed.ok) throw new Error(parsed.reason);
    const { epoch, holder } = await east.state.lease.readEpoch();
    const authority = new ZoneAuthority({
      store: east.store,
      keys: parsed.keys,
      zone: 'east',
      clock: systemClock,
      logger: silentLogger,
    });
    const { authorities } = await authority.ensure({ epoch, holder });
    const [made] = authorities;
    const opened = made && parsed.keys.open(made.key, 'workload-authority/east');
    if (!made || !opened?.ok) throw new Error('no authority');

    const { lease } = global.state;
    const standing = await lease.readEpoch();
    const led = await lease.takeOver(standing.epoch, 'global', 1_000_000);
    const ended = new AbortController();
    const runner = new LoopRunner([createTrustLoop()], {
      store: global.store,
      index: global.index,
      clock: systemClock,
      logger: silentLogger,
      random: () => 0.5,
      term: { epoch: led ?? 0, holder: 'global', signal: ended.signal },
    });
    const running = runner.run();
    const caBundles = [{ type: 'Pem', pem: { value: made.certificate } }];
    await east.put('MeshTrust', 'own', { trustDomain: 'default.east.mesh.local', caBundles });
    await global.holds(east.id('MeshTrust', 'own'));
    const derived = await new Promise<string>((resolve) => {
      const look = (): void => {
        const name = west.names('MeshTrust').find((one) => one.startsWith('derived-'));
        if (name === undefined) setImmediate(look);
        else resolve(name);
      };
      look();
    });
    expect((await west.holds(global.id('MeshTrust', derived))).spec).toMatchObject({ caBundles });
    ended.abort();
    await running;
    runner.close();

    const secret = formsOfKey(opened.text);
    const line = made.certificate.split('\n')[2] ?? '';
    for (const home of ['global', 'west', 'east']) {
      const tables = await tablesOf(homes.url(home));
      expect(tables).toContain(line);
      for (const text of secret.texts) expect(tables).not.toContain(text);
      expect(tables.includes(made.key.sealed)).toBe(home === 'east');
    }
    for (const way of ways) {
      const { bytes } = way;
      expect(bytes.includes(line)).toBe(true);
      for (const form of [...secret.texts, ...secret.bytes, made.key.sealed]) expect(bytes.includes(form)).toBe(false);
    }
  });
});
