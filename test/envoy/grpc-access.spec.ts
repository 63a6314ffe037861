import { register } from '@grpc/grpc-js-xds';
import { freePort } from '../../scripts/lib/ports.mjs';
import type { JsonObject } from '@causeway/resources';
import type { EnvoyView } from '@causeway/xds-translation';
import { GrpcWorkload, looseTimers } from '../support/grpc-workload';
import { TrafficPlane } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const HOSTNAME = 'greeter.svc.mesh.local';
const DENIED = 'PERMISSION_DENIED';

describe('an unmodified gRPC server (grpc-js-xds) that knows rules about callers', () => {
  let plane: TrafficPlane;
  const stops: (() => void)[] = [];
  let client: () => Promise<string>;
  let other: () => Promise<string>;

  const settings = (spec: JsonObject): void => plane.state.put(sketch('MeshParameters', 'p', spec));
  const greeter = (): void =>
    plane.state.put(
      sketch(
        'MeshService',
        'greeter',
        {
          selector: { dataplaneTags: { app: 'greeter' } },
          ports: [{ port: 9000, name: 'grpc', targetPort: 'grpc', appProtocol: 'grpc' }],
          identities: [{ type: 'SpiffeID', value: plane.spiffeId('greeter') }],
          state: 'Available',
          instances: 1,
        },
        { status: { addresses: [{ hostname: HOSTNAME, status: 'Available' }] } },
      ),
    );

  beforeAll(async () => {
    register();
    stops.push(looseTimers());
    plane = await TrafficPlane.start('west');
    const workload = async (name: string, view: Partial<EnvoyView> = {}): Promise<GrpcWorkload> => {
      const certificate = await plane.authority.issue({ uri: plane.spiffeId(name) });
      const made = new GrpcWorkload(plane, {
        node: name,
        certificate,
        authorities: [plane.authority.certificate],
        view,
      });
      stops.push(() => made.stop());
      return made;
    };
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    plane.state.put(sketch('Mesh', 'default', { parametersRef }));
    settings({});
    greeter();
    const port = await freePort();
    const inbound = [{ port, name: 'grpc', tags: { app: 'greeter' } }];
    const { id } = plane.dataplane('greeter', { address: '127.0.0.1', inbound });
    await (await workload('greeter', { dataplane: id })).serve('west', `127.0.0.1:${port}`);
    [client, other] = [(await workload('client')).channel(HOSTNAME), (await workload('other')).channel(HOSTNAME)];
    await until('an answer', async () => (await client()) === 'west' && (await other()) === 'west');
  });
  afterAll(async () => {
    stops.forEach((stop) => stop());
    await plane.stop();
  });
  afterEach(() => expect(plane.problems()).toEqual([]));

  it('refuses a revoked identity and answers the others, until it is taken out', async () => {
    settings({ revokedIdentities: [plane.spiffeId('client'), plane.spiffeId('nobody')] });
    await until('the refusal', async () => (await client()) === DENIED);
    expect(await other()).toBe('west');
    settings({});
    await until('an answer', async () => (await client()) === 'west');
  });

  it('refuses everybody where nobody may call', async () => {
    settings({ defaultAccess: 'Deny' });
    await until('the refusals', async () => (await client()) === DENIED && (await other()) === DENIED);
    settings({});
    await until('answers', async () => (await client()) === 'west' && (await other()) === 'west');
  });

  it('is believed by no client once its own identity is revoked', async () => {
    settings({ revokedIdentities: [plane.spiffeId('greeter')] });
    await until('the refusal', async () => (await client()) === 'UNAVAILABLE');
    settings({});
    await until('an answer', async () => (await client()) === 'west');
  });
});
