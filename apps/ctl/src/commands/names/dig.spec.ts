import { painter } from '../../colour';
import { connectApi } from '@causeway/api-client';
import { coreKinds } from '@causeway/kinds';
import { DnsZone, generator, service } from '../../../../../test/dns/dns-zone';
import { restFixture, type RestFixture } from '../../../../../test/rest/rest-fixture';
import { readCliConfig } from '../../config';
import { createProgram } from '../../program';
import { registerDig } from './dig';

const name = 'shop.svc.mesh.local';
const shop = service('shop', { ip: '241.0.0.7', hostnames: [name] });
const other = service('shop', { mesh: 'b', ip: '241.0.0.8', hostnames: [name] });
const zone = new DnsZone(shop, generator('local', '{{ name }}.svc.mesh.local'));

let rest: RestFixture;
let server: string;

beforeAll(async () => {
  await zone.start();
  rest = await restFixture({ insights: { dnsLookup: (question) => zone.dns.lookup(question.name, question.type) } });
  server = `http://127.0.0.1:${await rest.server.listen('127.0.0.1', 0)}`;
});

afterAll(async () => {
  await rest.close();
  await zone.close();
});

async function causeway(...args: string[]): Promise<{ readonly code: number; readonly out: string }> {
  const lines: string[] = [];
  let code = -1;
  const context = {
    api: () => connectApi({ server: new URL(server) }),
    registry: coreKinds,
    learnKinds: () => Promise.resolve(),
    close: () => Promise.resolve(),
    print: (line: string) => void lines.push(line),
    printError: (line: string) => void lines.push(line),
    stdin: () => Promise.resolve(''),
    paint: painter(false),
    now: () => 0,
    signal: new AbortController().signal,
    config: readCliConfig({}),
    flags: () => ({}),
    terminal: false,
  };
  const program = createProgram(context);
  registerDig(program, context, (given) => void (code = given));
  await program.parseAsync(['node', 'causeway', ...args]);
  return { code, out: lines.join('\n') };
}

test('what is answered, and why', async () => {
  const { code, out } = await causeway('dig', name);
  expect(code).toBe(0);
  expect(out).toBe(
    [
      'shop.svc.mesh.local A in zone east: NOERROR; MeshService east/default/shop of mesh default holds it by HostnameGenerator local; its address is 241.0.0.7',
      'NAME                 TTL  TYPE  DATA',
      'shop.svc.mesh.local  5    A     241.0.0.7',
    ].join('\n'),
  );
});

test('what is not there', async () => {
  const { code, out } = await causeway('dig', 'nobody.svc.mesh.local', 'aaaa');
  expect([code, out]).toEqual([
    1,
    'nobody.svc.mesh.local AAAA in zone east: NXDOMAIN; no service holds this name, and it is under the suffix mesh.local, which is ours',
  ]);
});

test('who else has the name', async () => {
  zone.put(other);
  expect((await causeway('dig', name)).out).toMatch(/^yes +b +MeshService +east +default +shop +241\.0\.0\.8$/m);
  expect((await causeway('dig', name)).out).toMatch(/^no +default +MeshService/m);
});

test('the whole explanation as JSON', async () => {
  const { out } = await causeway('dig', name, 'TXT', '-o', 'json');
  expect(JSON.parse(out)).toMatchObject({ result: 'NOERROR', suffix: 'mesh.local', answers: [{ type: 'TXT' }] });
});
