/*
 * Requirements of this file, and their other tests:
 * * An endpoint that is killed fails no connection after 1 s; this zone, then the other one, then this one. Also:
 *   test/envoy/reach.spec.ts, test/envoy/ingress.spec.ts.
 * * The state of an inbound says that an endpoint is healthy; a user or the agent of the host writes it. Proxies themselves leave an endpoint that dies without notice, because connections to it fail.
 */
import { ENVOY } from '../support/envoy-process';
import { until } from '../support/until';
import { call, Load, type At } from './calls';
import { TrafficMesh, type Instance } from './traffic-mesh';

/** Calls a second. */
const RATE = 100;

(ENVOY === undefined ? describe.skip : describe)('a service with instances in two zones', () => {
  let traffic: TrafficMesh | undefined;
  const started = (): TrafficMesh => {
    if (!traffic) throw new Error('not started');
    return traffic;
  };
  let at: At;
  let instances: readonly Instance[] = [];
  const answers = (name: string): Promise<boolean> => until(name, async () => (await call(at)) === `${name}:who`);

  beforeAll(async () => {
    traffic = await TrafficMesh.start();
    const spec = {
      selector: { meshService: { matchLabels: { 'kuma.io/display-name': 'web' } } },
      ports: [{ port: 6379, appProtocol: 'tcp' }],
    };
    await traffic.put(traffic.mesh.global, 'MeshMultiZoneService', 'web', spec);
    await traffic.client('west');
    await traffic.instance('east', 'web', 'east-1');
    const names = ['west-1', 'west-2'];
    instances = await Promise.all(names.map((name) => started().instance('west', 'web', name)));
    at = await started().vipOf('west', 'meshmultizoneservices/web');
    await answers('west-1');
    await answers('west-2');
  });
  afterAll(() => traffic?.stop());

  /** The answers of the next `count` calls. */
  async function next(load: Load, count: number): Promise<readonly string[]> {
    const before = load.outcome;
    await until('more calls', () => load.outcome.calls >= before.calls + count);
    const { answers: after } = load.outcome;
    return Object.keys(after)
      .filter((name) => (after[name] ?? 0) > (before.answers[name] ?? 0))
      .sort();
  }

  it('is reached in its own zone, in the other one when nothing is left there, and in its own again', async () => {
    const traffic = started();
    const load = new Load(at, { rate: RATE, lasting: 0 });
    const settled = (...names: readonly string[]): Promise<boolean> =>
      until(names.join(), async () => (await next(load, 50)).join() === names.map((name) => `${name}:who`).join());
    await settled('west-1', 'west-2');
    const killed: number[] = [];
    for (const one of instances) {
      killed.push(load.outcome.begun);
      await traffic.kill(one);
      await next(load, 300);
    }
    expect(await next(load, 50)).toEqual(['east-1:who']);
    instances = await Promise.all(instances.map((one) => traffic.revive(one)));
    await settled('west-1', 'west-2');
    const { failures } = await load.stop();
    // Failures later than a second after a kill: nothing else is slow here.
    const late = failures.filter((n) => !killed.some((at) => Math.abs(n - at) < RATE));
    expect(late).toEqual([]);
  });

  it('is reached in the other zone while those of its own are not ready, and no connection fails', async () => {
    const traffic = started();
    const load = new Load(at, { rate: 50, lasting: 0 });
    const before = new Load(at, { rate: 0, lasting: 2 });
    await until('connections', () => before.outcome.calls > 2);
    for (const state of ['NotReady', 'Ready']) {
      await Promise.all(instances.map((one) => traffic.putInstance({ ...one, service: 'web', state })));
      const wanted = state === 'Ready' ? ['west-1:who', 'west-2:who'] : ['east-1:who'];
      const isSettled = async (): Promise<boolean> => (await next(load, 50)).join() === wanted.join();
      await until(`${state}: ${wanted.join()}`, isSettled);
    }
    expect((await load.stop()).failures).toEqual([]);
    expect(await before.stop()).toMatchObject({ failures: [], reconnected: 0 });
  });
});
