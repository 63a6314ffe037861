/*
 * Requirements of this file, and their other tests:
 * * Certificates are renewed and an authority is rotated under load, and no call fails. Also:
 *   test/envoy/xds-port.spec.ts.
 * * The key of a zone's authority is in no other database and in no recorded byte. Also:
 *   test/scenarios/workload-authority.spec.ts.
 */
import { runAsAdmin } from '../ctl/run-causeway';
import { ENVOY, type EnvoyProcess } from '../support/envoy-process';
import { formsOfKey, tablesOf } from '../support/secret-search';
import { until } from '../support/until';
import { call, Load, type At } from './calls';
import { authorityOf, serialOf } from './rotation';
import { StolenAuthority, type StolenPair } from './stolen-authority';
import { TrafficMesh, type Instance } from './traffic-mesh';

(ENVOY === undefined ? describe.skip : describe)('with short certificates and under load,', () => {
  const open: { stop(): Promise<unknown> }[] = [];
  let traffic: TrafficMesh;
  let east: string;
  let vip: At;
  let proxies: readonly EnvoyProcess[];
  /** An instance of west that is never called. */
  let idle: Instance;
  let stolen: StolenAuthority;
  /** The authorities of east, the first before it is rotated. */
  const pairs: StolenPair[] = [];

  beforeAll(async () => {
    const zone = { CAUSEWAY_WORKLOAD_CERT_VALIDITY: '30s', CAUSEWAY_CLOCK_SKEW: '1s' };
    traffic = await TrafficMesh.start({ zone, global: { CAUSEWAY_KDS_TLS: 'off' }, isRecorded: true });
    open.push(traffic);
    const started = [traffic.instance('east', 'web', 'web-1'), traffic.instance('west', 'idle', 'idle-1')] as const;
    const client = await traffic.client('west');
    const [server, other] = await Promise.all(started);
    [idle, proxies, east] = [other, [client, server.proxy], traffic.zone('east').restUrl];
    stolen = await StolenAuthority.open(await traffic.mesh.databaseUrl('east'), traffic.secrets, 'east');
    open.push(stolen);
    pairs.push(...(await stolen.pairs()));
    vip = await traffic.vip('west', 'web', 'east');
    await until('an answer', async () => (await call(vip)) === 'web-1:who');
    // The rotation does not wait for proxies that were never connected.
    await until('idle has a certificate', async () => (await serialOf(idle.proxy)) || undefined);
  });
  afterAll(async () => {
    idle.proxy.signal('SIGCONT');
    for (const one of open.reverse()) await one.stop();
  });

  it('the authority of east is rotated to its end: the proxies of west are waited for by name, and no call fails', async () => {
    const load = new Load(vip, { rate: 40, lasting: 4 });
    const before = await Promise.all(proxies.map(serialOf));
    idle.proxy.signal('SIGSTOP');
    const rotated = await runAsAdmin(east, ['ca', 'rotate']);
    expect(rotated).toMatchObject({ code: 0, out: expect.stringContaining('trusting') });
    const missing = 'zone west, mesh default: not accepted by default/idle-1';
    const waiting = await until('west is missing', async () => {
      const found = await authorityOf(traffic.zone('east'));
      return found.missing.items.includes(missing) ? found : undefined;
    });
    expect(waiting).toMatchObject({ step: 'trusting', authorities: [{ signs: true }, { signs: false }] });
    pairs.push(...(await stolen.pairs()).slice(1));
    idle.proxy.signal('SIGCONT');
    const ended = await until('the end of the rotation', async () => {
      const found = await authorityOf(traffic.zone('east'));
      if (found.step === 'retiring') expect(found).toMatchObject({ usedBy: 'acks', missing: { total: 0 } });
      return found.step === 'steady' ? found : undefined;
    });
    expect(ended.authorities).toMatchObject([{ certificate: pairs[1]?.certificate, signs: true }]);
    const after = await Promise.all(proxies.map(serialOf));
    expect(after.filter((serial, i) => serial === '' || serial === before[i])).toEqual([]);
    const { calls } = load.outcome;
    await until('more calls', () => load.outcome.calls > calls + 100);
    expect(await load.stop()).toMatchObject({ failures: [], reconnected: 0 });
  });

  it("neither key of east's authorities is in another database or in a recorded byte between zone and global", async () => {
    expect(pairs).toHaveLength(2);
    expect(traffic.ways).toHaveLength(2);
    const homes = ['global', 'west', 'east'] as const;
    const tables = await Promise.all(homes.map(async (home) => tablesOf(await traffic.mesh.databaseUrl(home))));
    for (const [n, { certificate, key, sealed }] of pairs.entries()) {
      const { texts, bytes } = formsOfKey(key);
      // Of its public key: other authorities have the lines before it, too.
      const line = certificate.split('\n')[6] ?? '';
      for (const [i, home] of homes.entries()) {
        if (n === 1) expect(tables[i]).toContain(line);
        for (const text of texts) expect(tables[i]).not.toContain(text);
        expect(tables[i]?.includes(sealed)).toBe(home === 'east' && n === 1);
      }
      for (const way of traffic.ways) {
        expect(way.bytes.includes(line)).toBe(true);
        for (const form of [...texts, ...bytes, sealed]) expect(way.bytes.includes(form)).toBe(false);
      }
    }
  });
});
