import { systemClock, type Clock } from '@causeway/runtime';
import { DnsZone, generator, service } from '../../../../test/dns/dns-zone';

const SLICE = 1_000;
const NAMES = 2 * SLICE + 10;

/** As on a slow machine: a slice of 5 ms takes `SLICE` names. */
function slowClock(): Clock {
  let elapsed = 0;
  return {
    now: () => systemClock.now(),
    elapsed: () => (elapsed += 5 / SLICE),
    after: (ms, action) => systemClock.after(ms, action),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  };
}

const local = generator('local', '{{ .DisplayName }}.svc.mesh.local');
const hostname = (i: number): string => `s${i}.svc.mesh.local`;
const crowd = (octet: number) =>
  Array.from({ length: NAMES }, (_, i) =>
    service(`s${i}`, { ip: `241.${octet}.${i >> 8}.${i & 255}`, hostnames: [hostname(i)] }),
  );
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a load of more names than fit in a slice', () => {
  let zone: DnsZone;
  afterEach(() => zone.close());

  /** Returns the answer to A of a hostname, as one text. */
  const answer = (name: string): string => JSON.stringify(zone.dns.lookup(name)['answers']);
  const address = (i: number): string => answer(hostname(i));
  const reload = (...resources: Parameters<DnsZone['put']>): void =>
    zone.index.load({ point: { incarnation: 'another', revision: 5 }, resources, tombstones: [] });

  it('is complete before the server is bound', async () => {
    zone = await new DnsZone(local, ...crowd(1)).start();
    expect(address(0)).toContain('241.1.0.0');
    expect(address(NAMES - 1)).toContain(`241.1.${(NAMES - 1) >> 8}.${(NAMES - 1) & 255}`);
  });

  it('answers from the former names until all new ones are in, with turns of the event loop in between', async () => {
    zone = await new DnsZone(local, ...crowd(1)).start({}, { clock: slowClock() });
    reload(local, ...crowd(2));
    let turns = 0;
    for (; address(0).includes('241.1.0.0'); turns++) {
      expect(address(NAMES - 1)).toContain('241.1.');
      await turn();
    }
    expect(turns).toBeGreaterThanOrEqual(2);
    expect(address(NAMES - 1)).toContain('241.2.');
  });

  it('misses nothing that changes in between, and takes nothing twice', async () => {
    zone = await new DnsZone(local).start({}, { clock: slowClock() });
    const loaded = crowd(2);
    reload(local, ...loaded);
    const [first, last] = [loaded.at(0), loaded.at(-1)];
    if (!first || !last) throw new Error('there is a crowd');
    zone.delete(first);
    zone.put(service(last.id.name, { ip: '241.3.0.1', hostnames: ['other.svc.mesh.local'] }));
    zone.put(service('late', { ip: '241.3.0.2', hostnames: ['late.svc.mesh.local'] }));
    while (zone.metric('dns_hostnames') < NAMES) await turn();
    expect([address(0), address(NAMES - 1)]).toEqual(['[]', '[]']);
    expect(answer('other.svc.mesh.local')).toContain('241.3.0.1');
    expect(answer('late.svc.mesh.local')).toContain('241.3.0.2');
    expect(zone.metric('dns_hostnames')).toBe(NAMES);
  });

  it('is given up for a newer one', async () => {
    zone = await new DnsZone(local).start({}, { clock: slowClock() });
    reload(local, ...crowd(1));
    reload(local, service('only', { ip: '241.3.0.3', hostnames: ['only.svc.mesh.local'] }));
    for (let turns = 0; turns < 5; turns++) await turn();
    expect([zone.metric('dns_hostnames'), address(0)]).toEqual([1, '[]']);
  });
});
