/*
 * No connection reaches another service than the holder of its address (I11); 10,000 services through 20 proxies by
 * `bench/vip-churn.ts`. Also: libs/agent-service/src/status/applied-floor.property.spec.ts.
 */
import { ENVOY, type EnvoyProcess } from '../support/envoy-process';
import { until } from '../support/until';
import { TrafficMesh } from './traffic-mesh';
import { VipChurn, type ChurnOutcome } from './vip-churn';

/** Proxies of the zone; connections to an address are spread over them by the kernel. */
const PROXIES = 5;
const SLOTS = 12;

(ENVOY === undefined ? describe.skip : describe)('I11: addresses go from service to service', () => {
  let traffic: TrafficMesh | undefined;
  afterAll(() => traffic?.stop());

  it('through several proxies, one of them stopped for a while, and no connection reaches another service than the holder', async () => {
    traffic = await TrafficMesh.start({
      zones: ['west'],
      zone: { CAUSEWAY_VIP_COOLDOWN: '2s', CAUSEWAY_DNS_TTL: '1s' },
      vipBits: 25,
    });
    const mesh = traffic;
    const slots = await mesh.slots('west', SLOTS);
    const clients: EnvoyProcess[] = [];
    for (let n = 0; n < PROXIES; n++) clients.push(await mesh.client('west', `client-${n}`));
    const options = {
      zone: mesh.zone('west'),
      slots,
      callers: ['127.0.0.1'],
      port: 6379,
      services: 300,
      alive: 40,
      rate: 15,
      every: 10,
      // On a slow machine services stay longer and less is called meanwhile.
      awaitsCall: 10_000,
      isEnough: ({ reused, answered }: ChurnOutcome) => reused > 50 && answered > 500,
    };
    const churn = new VipChurn(options);
    const running = churn.run();
    await until('services', () => churn.outcome.made > 60);
    clients[0]?.signal('SIGSTOP');
    await until('more services', () => churn.outcome.made > 120);
    clients[0]?.signal('SIGCONT');
    const outcome = await running;
    expect(outcome.wrong).toEqual([]);
    expect(outcome.made).toBeGreaterThanOrEqual(300);
    expect(outcome.reused).toBeGreaterThan(50);
    expect(outcome.answered).toBeGreaterThan(500);
  }, 900_000);
});
