/**
 * Control planes are killed and traffic goes on; a control plane that comes back sends only changes. Also: test/envoy/envoy.spec.ts,
 * libs/agent-service/src/scenarios/answers.spec.ts.
 */
import { ENVOY } from '../support/envoy-process';
import { until } from '../support/until';
import { call, Load, type At } from './calls';
import { TrafficMesh } from './traffic-mesh';

(ENVOY === undefined ? describe.skip : describe)('traffic from west to east goes on', () => {
  let traffic: TrafficMesh | undefined;
  let vip: At;
  const started = (): TrafficMesh => {
    if (!traffic) throw new Error('not started');
    return traffic;
  };
  beforeAll(async () => {
    traffic = await TrafficMesh.start({ replicas: 2 });
    await traffic.client('west');
    for (const name of ['web', 'other']) {
      await traffic.instance('east', name, `${name}-1`);
      vip = await traffic.vip('west', name, 'east');
      await until('an answer', async () => (await call(vip)) === `${name}-1:who`);
    }
  });
  afterAll(() => traffic?.stop());

  it('while the global, a replica and all control planes of both zones are killed; what comes back sends nothing again', async () => {
    const traffic = started();
    const load = new Load(vip, { rate: 50, lasting: 4 });
    const goesOn = async (): Promise<void> => {
      const { calls } = load.outcome;
      await until('calls', () => load.outcome.calls > calls + 150);
      expect(load.outcome.failures).toEqual([]);
    };
    await goesOn();
    await traffic.mesh.global.kill();
    await goesOn();
    await traffic.crash('west', 0);
    await goesOn();
    await Promise.all([traffic.crash('west', 1), traffic.crash('east', 0), traffic.crash('east', 1)]);
    await goesOn();

    const west = await traffic.recover('west', 0);
    // The client and the ingress of west.
    await until('its proxies', async () => (await west.metric('causeway_xds_streams')) === 2);
    const figures = async (): Promise<Record<string, number>> => ({
      unchanged: await west.metric('causeway_xds_unchanged_total'),
      resources: await west.metric('causeway_xds_resources_total'),
      certificates: await west.metric('causeway_xds_certificates_signed_total'),
    });
    // Two clusters, the entrance of east, two listeners and the trust of the client; the listener of the ingress.
    await until('what they hold', async () => ((await figures())['unchanged'] ?? 0) >= 7);
    await goesOn();
    // Each proxy is sent its new certificate, and nothing else.
    const { resources, certificates } = await figures();
    expect(certificates).toBe(1);
    expect(resources).toBe(certificates);
    await goesOn();
    await load.stop();
  });
});
