import { runCauseway } from '../ctl/run-causeway';
import { ENVOY, type EnvoyProcess } from '../support/envoy-process';
import { START_TIMEOUT } from '../support/process-plane';
import { until } from '../support/until';
import { call, Load, type At } from './calls';
import { TrafficMesh } from './traffic-mesh';

jest.setTimeout(START_TIMEOUT);

/** The serial of the certificate that a proxy has now. */
async function serialOf(proxy: EnvoyProcess): Promise<string> {
  const certs = await proxy.ask('/certs');
  return /"cert_chain": \[\s*\{[^}]*?"serial_number": "([0-9a-f]+)"/.exec(certs)?.[1] ?? '';
}

(ENVOY === undefined ? describe.skip : describe)('with certificates of a minute and under load,', () => {
  let traffic: TrafficMesh | undefined;
  let vip: At;
  let proxies: readonly EnvoyProcess[] = [];
  const started = (): TrafficMesh => {
    if (!traffic) throw new Error('not started');
    return traffic;
  };
  beforeAll(async () => {
    traffic = await TrafficMesh.start({ zone: { CAUSEWAY_WORKLOAD_CERT_VALIDITY: '1m' } });
    const [client, server] = await Promise.all([traffic.client('west'), traffic.instance('east', 'web', 'web-1')]);
    proxies = [client, server.proxy];
    vip = await traffic.vip('west', 'web', 'east');
    await until('an answer', async () => (await call(vip)) === 'web-1:who');
  });
  afterAll(() => traffic?.stop());

  it('every certificate is renewed while a rotation of the authority of the server is under way, and no call fails', async () => {
    const east = started().zone('east').restUrl;
    const load = new Load(vip, { rate: 40, lasting: 4 });
    const renewed = async (wanted: readonly EnvoyProcess[]): Promise<void> => {
      const before = await Promise.all(wanted.map(serialOf));
      const isRenewed = async (): Promise<boolean> => {
        const now = await Promise.all(wanted.map(serialOf));
        return now.every((serial, i) => serial !== '' && serial !== before[i]);
      };
      await until('other certificates', isRenewed, 60_000);
    };
    const rotated = await runCauseway(east, ['ca', 'rotate']);
    expect(rotated).toMatchObject({ code: 0, out: expect.stringContaining('trusting') });
    await renewed(proxies);
    const { calls } = load.outcome;
    await until('more calls', () => load.outcome.calls > calls + 200);
    expect(await load.stop()).toMatchObject({ failures: [], reconnected: 0 });
  });
});
