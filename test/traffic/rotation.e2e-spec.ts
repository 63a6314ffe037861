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

  it('the authority of the server is rotated, every certificate is renewed, and no call fails', async () => {
    const east = started().zone('east').restUrl;
    const load = new Load(vip, { rate: 40, lasting: 4 });
    const before = await Promise.all(proxies.map(serialOf));
    const rotated = await runCauseway(east, ['ca', 'rotate']);
    expect(rotated).toMatchObject({ code: 0, err: '' });
    console.log(rotated.out, (await runCauseway(east, ['ca'])).out);
    await until(
      'other certificates',
      async () => {
        const now = await Promise.all(proxies.map(serialOf));
        return now.every((serial, i) => serial !== '' && serial !== before[i]);
      },
      45_000,
    );
    console.log((await runCauseway(east, ['ca'])).out, before, await Promise.all(proxies.map(serialOf)));
    const { calls } = load.outcome;
    await until('more calls', () => load.outcome.calls > calls + 200);
    const outcome = await load.stop();
    console.log(outcome);
    expect(outcome).toMatchObject({ failures: [], reconnected: 0 });
  });
});
