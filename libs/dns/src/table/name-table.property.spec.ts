import fc from 'fast-check';
import type { Resource } from '@causeway/resources';
import { DnsZone, generator, service } from '../../../../test/dns/dns-zone';

const meshes = ['a', 'b'];
const hostnames = ['x.svc.mesh.local', 'y.svc.mesh.local', 'x.lone.east', 'deep.x.lone.east'];
const ips = ['241.0.0.1', '241.0.0.2', 'fd00::1', undefined];
const questions = [...hostnames, 'svc.mesh.local', 'lone.east', 'z.svc.mesh.local', '1.0.0.241.in-addr.arpa'];
const types = ['A', 'AAAA', 'PTR', 'TXT', 'SRV', 'SOA'];

const change = fc.record({
  name: fc.constantFrom('one', 'two', 'three'),
  mesh: fc.constantFrom(...meshes),
  ip: fc.constantFrom(...ips),
  hostnames: fc.subarray(hostnames),
  lost: fc.subarray(hostnames),
  gone: fc.boolean(),
  asks: fc.boolean(),
  template: fc.option(fc.constantFrom('{{ name }}.svc.mesh.local', '{{ name }}.lone.east', '{{ name }}.east')),
});

/** Returns the zone's answers to all questions of this test; the serial is of no interest. */
function everything(zone: DnsZone): unknown {
  return questions.flatMap((name) =>
    types.map((type) => JSON.stringify(zone.dns.lookup(name, type)).replace(/ \d+ 60 10 600 /g, ' ')),
  );
}

test('a table that followed every change answers like one that was built at the end, asked in between or not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
      const followed = await new DnsZone().start();
      const held = new Map<string, Resource>();
      for (const { name, mesh, ip, hostnames: won, lost, gone, asks, template } of changes) {
        const made = service(name, { mesh, hostnames: won, lost, ...(ip === undefined ? {} : { ip }) });
        if (gone) followed.delete(made);
        else followed.put(made);
        if (gone) held.delete(`${mesh} ${name}`);
        else held.set(`${mesh} ${name}`, made);
        const rule = generator('g', template ?? '');
        followed.put(rule);
        held.set('g', rule);
        if (asks) everything(followed);
      }
      const built = await new DnsZone(...[...held.values()].reverse()).start();
      expect(everything(followed)).toEqual(everything(built));
      await Promise.all([followed.close(), built.close()]);
    }),
    { numRuns: 60 },
  );
});
