import { writeFileSync } from 'node:fs';
import type { DataplaneTokens } from '@causeway/access';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import { describeWhere } from '../dns/programs';
import type { ParsedJson } from '../rest/rest-fixture';
import { AgentMachines } from '../support/agent-machines';
import { AgentProcess } from '../support/agent-process';
import { ENVOY } from '../support/envoy-process';
import { canFilter } from '../support/network-namespace';
import { until } from '../support/until';

const PORT = 8_000;
/** A process that answers with the caller that its proxy reports. */
const TELL = `
require('node:http').createServer((asked, answer) => answer.end(String(asked.headers['x-forwarded-client-cert'])))
  .listen(7000, '127.0.0.1', () => console.log('serving'));
`;
/** Prints the answer at an address, or why there is none. */
const ASK = `
require('node:http').get(process.argv[1], { timeout: 5000 }, (answer) => {
  answer.on('data', (part) => process.stdout.write(String(part)));
}).on('error', ({ code, message }) => console.log(code ?? message)).on('timeout', () => process.exit(1));
`;
const [ROOT, NOBODY] = ['0', '65534'];
const idOf = (name: string): string => `spiffe://default.east.mesh.local/workload/${name}`;

describeWhere(
  'packet filters and Envoy',
  canFilter && ENVOY !== undefined,
  'root, nftables, iproute2, CAUSEWAY_ENVOY',
)('clients of one machine that call as two Dataplanes, by their users', () => {
  let machines: AgentMachines;
  let client: AgentProcess;
  let vip = '';
  let before = '';
  /** Returns the answer to a program of a user: the identity that the server sees, or an error. */
  const ask = async (uid: string): Promise<string> => {
    const who = ['setpriv', `--reuid=${uid}`, '--clear-groups'];
    const { stdout } = await machines.here.execute([...who, process.execPath, '-e', ASK, `http://${vip}:${PORT}`]);
    return /URI=([^;,]+)/.exec(stdout)?.[1] ?? stdout.trim();
  };
  const becomes = (uid: string, want: string): Promise<unknown> =>
    until(`user ${uid} gets ${want}`, async () => (await ask(uid)) === want);
  const dataplane = (name: string, given: object = {}): object => ({ name, address: '10.7.1.1', ...given });
  const config = (plane: string, ...dataplanes: readonly object[]): object => ({
    capture: 'redirect',
    plane,
    dataplanes,
    ...(plane === 'envoy' && { envoy: { path: ENVOY, concurrency: 1 } }),
  });

  beforeAll(async () => {
    machines = await AgentMachines.start();
    const { here, there, zone } = machines;
    await there.serve(TELL);
    const services = [{ name: 'tell', port: PORT, servicePort: 7_000, protocol: 'http' }];
    const envoy = { plane: 'envoy', envoy: { path: ENVOY, concurrency: 1 }, capture: 'none' };
    const dataplanes = [{ name: 'tell-1', address: '10.7.1.2', services }];
    await (await machines.agent(there, 'tell-1', { ...envoy, dataplanes })).start();
    vip = await until('the virtual IP', async () => {
      const { vip: found } = ((await machines.get('/meshes/default/meshservices/tell')) as ParsedJson)?.status ?? {};
      return (found?.ip as string | undefined) ?? false;
    });
    before = await here.state();
    client = await machines.agent(here, 'one', {});
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    const tokenFile = `${client.folder}/two.token`;
    writeFileSync(tokenFile, (await tokens.issue({ mesh: 'default', name: 'two', validFor: '10m' })).token);
    const two = dataplane('two', { tokenFile, clients: { users: [NOBODY] } });
    client.write({ ...client.settings, ...config('envoy', dataplane('one'), two) });
    await client.start();
  });
  afterAll(() => machines?.close());

  it('are two identities to the server, and the machine says whose they are', async () => {
    await becomes(ROOT, idOf('one'));
    await becomes(NOBODY, idOf('two'));
    expect((await client.command('status')).text).toMatch(/clients +programs of the users 65534/);
    const found = (await machines.get('/meshes/default/dataplanes/two')) as ParsedJson;
    const types = (found?.status?.conditions ?? []).map(({ type }: ParsedJson) => type as string);
    expect(types).not.toContain('SharedIdentity');
  });

  it('are refused whom no Dataplane names, where each names some', async () => {
    const { dataplanes, ...rest } = client.settings as { readonly dataplanes: readonly object[] };
    const [one = {}, two = {}] = dataplanes;
    client.write({ ...rest, dataplanes: [{ ...one, clients: { users: ['daemon'] } }, two] });
    await becomes(ROOT, 'ECONNREFUSED');
    await becomes(NOBODY, idOf('two'));
    client.write({ ...rest, dataplanes });
    await becomes(ROOT, idOf('one'));
  });

  it('are refused by the builtin plane, which cannot tell them from others', async () => {
    const { dataplanes } = client.settings as { readonly dataplanes: readonly object[] };
    await client.end();
    expect(await machines.here.state()).toBe(before);
    // A host without Envoy; the configuration names no plane.
    const { envoy: _, plane: __, ...rest } = { ...(client.settings as ParsedJson), dataplanes };
    const enter = ['nsenter', ...machines.here.enter, 'env', '-u', 'CAUSEWAY_ENVOY'];
    const other = new AgentProcess(`${client.folder}-other`, rest as object, enter);
    try {
      await other.start();
      await becomes(ROOT, idOf('one'));
      expect(await ask(NOBODY)).toBe('ECONNREFUSED');
      expect((await other.command('status')).text).toContain(
        'not done: clients of Dataplane two: only the plane envoy tells users apart; what 65534 dial at virtual IPs is refused',
      );
    } finally {
      await other.end();
    }
    expect(await machines.here.state()).toBe(before);
  });
});
