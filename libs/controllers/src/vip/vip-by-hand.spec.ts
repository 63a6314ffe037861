import type { JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { remove } from '../../../../test/support/loop-harness';
import { external, made, names, COOLDOWN, service, VipZone } from '../../../../test/support/vip-zone';

/** Writes the status of a service past the loop, while the loop runs. */
function shows(name: string, status: JsonObject): Change {
  return { type: 'patch', id: service(name), expect: 'any', status };
}

const vip = (ip: string, type = 'Kuma'): JsonObject => ({ vip: { ip, type } });

describe('what others write is looked at, however little it differs from what the vip loop writes itself', () => {
  let zone: VipZone;
  beforeEach(() => (zone = new VipZone()));
  afterEach(() => zone.harness.stop());

  it('I1 an address that a service shows all at once is handed to nobody else', async () => {
    await zone.start();
    await zone.apply(...names('a'));
    await zone.apply(shows('a', vip('241.0.0.1')));
    await zone.apply(...names('b', 'c'));
    expect(await zone.vips('b', 'c')).toEqual(['241.0.0.2', '241.0.0.3']);
  });

  it('I1 an address freed while nobody led cools down, though the service has another address now', async () => {
    const ranges = { MeshService: '10.0.0.0/31' };
    await zone.start(ranges);
    await zone.apply(...names('a'));
    await zone.harness.write(shows('a', {}));
    await zone.start(ranges);
    await zone.apply(...names('b'));
    expect(await zone.vips('a', 'b')).toEqual(['10.0.0.1', undefined]);
    await zone.pass(COOLDOWN);
    expect(await zone.vips('a', 'b')).toEqual(['10.0.0.1', '10.0.0.0']);
  });

  it('a denial that somebody puts beside an address is taken back', async () => {
    await zone.start();
    await zone.apply(...names('a'));
    const denied = { type: 'VIPAllocated', status: 'False', reason: 'RangeExhausted', message: '' };
    await zone.apply(shows('a', { ...vip('241.0.0.0'), conditions: [denied] }));
    expect(await zone.status('a')).toMatchObject({ ...vip('241.0.0.0'), conditions: [{ status: 'True' }] });
  });

  it('an address that becomes one of Kubernetes is that cluster’s from then on', async () => {
    await zone.start({ MeshService: '10.0.0.0/31' });
    await zone.apply(...names('a'));
    await zone.apply(shows('a', vip('10.0.0.0', 'Kubernetes')));
    await zone.apply(remove(service('a')));
    await zone.apply(...names('b', 'c'));
    await zone.pass(2 * COOLDOWN);
    expect(await zone.vips('b', 'c')).toEqual(['10.0.0.1', undefined]);
  });

  it('an address of another kind that a service showed for a while is that kind’s again', async () => {
    await zone.start({ MeshService: '10.0.0.0/32', MeshExternalService: '10.0.1.0/32' });
    await zone.apply(...names('a', 'b'));
    await zone.apply(shows('b', vip('10.0.1.0')));
    await zone.apply(remove(service('a')));
    await zone.pass(2 * COOLDOWN);
    expect(await zone.vip('b')).toBe('10.0.0.0');
    await zone.apply(...made(external('x')));
    expect(await zone.vip(external('x'))).toBe('10.0.1.0');
  });
});
