import { Client, credentials } from '@grpc/grpc-js';
import { systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { coreKinds } from '@causeway/kinds';
import { FieldPath } from '@causeway/resources';
import { hashName } from '@causeway/naming/testing';
import { KumaGlobal } from '../../../../test/support/kuma-global';
import { kumaResponse } from '../../../../test/support/kuma-zone';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { toClusterConfig } from '../session/kuma-incarnation';
import { KUMA_DIALECT } from '../wire/dialect';
import { encodeZoneHeaders } from '../wire/headers';
import { NODE_FEATURES } from '../wire/node';
import { CREATION_ORDER_LABEL, formatWireKey, type WireResource } from '../wire/wire-resource';
import { decodeRequest, encodeRequest } from '../wire/request';
import type { IncomingResponse } from '../wire/response';
import { decodeResponse } from '../../testing/decode-response';
import { kdsSyncService } from '../wire/kds-service';
import { untilSoon } from '../../../../test/support/until';

const HOLD = 300_000;
const SPEC = { ports: [{ port: 6379, targetPort: 6379, appProtocol: 'tcp' }], state: 'Available' };

/** A service as a Kuma control plane sends it, made in zone kz. */
function service(name: string, origin: 'global' | 'zone'): WireResource {
  const labels = {
    'kuma.io/display-name': name,
    'kuma.io/mesh': 'default',
    'kuma.io/zone': 'kz',
    'kuma.io/origin': origin,
    'kuma.io/env': 'universal',
  };
  return { kind: 'MeshService', mesh: 'default', name: hashName('default', name, 'kz'), labels, spec: SPEC };
}

const MESH: WireResource = {
  kind: 'Mesh',
  mesh: '',
  name: 'default',
  labels: { 'kuma.io/origin': 'global' },
  spec: {},
};

/** An ingress as a Kuma zone sends it: without its zone, which the global fills in. */
const INGRESS = { networking: { address: '10.0.0.1', port: 10001 } };
const tagged = (zone: string) => [{ tags: { 'kuma.io/service': 'web', 'kuma.io/zone': zone }, instances: 1 }];

describe('a zone under a Kuma global', () => {
  const clock = new FakeClock(1_000_000);
  let kuma: KumaGlobal;
  let west: TestZone;
  const web = { kind: 'MeshService', mesh: 'default', zone: 'kz', namespace: 'default', name: 'web' };

  beforeEach(async () => {
    kuma = new KumaGlobal();
    kuma.state.set('Config', [toClusterConfig('cluster-1')]);
    kuma.state.set('Mesh', [MESH]);
    kuma.state.set('MeshService', [service('web', 'global')]);
    await kuma.serve();
    west = new TestZone('west', { clock, hold: HOLD });
    await west.join(kuma);
    await west.holds(web);
  });

  afterEach(async () => {
    await west.close();
    kuma.close();
  });

  const rejoin = async (state: Record<string, readonly WireResource[]>): Promise<void> => {
    await west.leave();
    kuma.asked.length = 0;
    kuma.state = new Map(Object.entries(state));
    await west.join(kuma);
    await untilSoon(() => kuma.asked.some(({ kind }) => kind === 'MeshService'));
  };

  it('takes in what it is sent by its labels, says who it is, and that it lives', async () => {
    const held = await west.holds(web);
    expect(held).toMatchObject({
      labels: { 'kuma.io/zone': 'kz', 'kuma.io/origin': 'global' },
      spec: SPEC,
      generation: 1,
      creationOrder: 0,
    });
    expect(held.createdAt).toBe(clock.now());
    for (const { zone, metadata } of kuma.asked) expect([zone, metadata?.features]).toEqual(['west', NODE_FEATURES]);
    expect(kuma.nacks).toEqual([]);
    await untilSoon(() => kuma.pings > 0);
    expect(west.sync?.status()).toMatchObject({ connected: true, peer: 'kuma' });
  });

  it('holds the `mtls` of a Mesh whole; another type than builtin is kept and breaks a rule here', async () => {
    const mtls = {
      enabledBackend: 'ca-1',
      backends: [{ name: 'ca-1', type: 'builtin', mode: 'PERMISSIVE', dpCert: { rotation: { expiration: '1d' } } }],
    };
    kuma.state.set('Mesh', [{ ...MESH, spec: { mtls, meshServices: { mode: 'Exclusive' } } }]);
    kuma.say('Mesh');
    const held = await west.holds(west.id('Mesh', 'default'), ({ spec }) => spec['mtls'] !== undefined);
    expect(held.spec).toEqual({ mtls, meshServices: { mode: 'Exclusive' } });
    const broken = (spec: unknown): unknown => coreKinds.kind('Mesh')?.check(spec, FieldPath.at('spec')).first;
    expect(broken(held.spec)).toEqual([]);
    const provided = { ...mtls, backends: [{ name: 'ca-1', type: 'provided' }] };
    kuma.state.set('Mesh', [{ ...MESH, spec: { mtls: provided } }]);
    kuma.say('Mesh');
    const other = await west.holds(west.id('Mesh', 'default'), ({ generation }) => generation === held.generation + 1);
    expect(other.spec['mtls']).toEqual(provided);
    expect(broken(other.spec)).toMatchObject([
      { field: 'spec.mtls.backends[0].type', reason: 'must be builtin; got "provided"' },
    ]);
    expect(kuma.nacks).toEqual([]);
  });

  it('counts the changes that Kuma does not count', async () => {
    kuma.state.set('MeshService', [{ ...service('web', 'global'), spec: { ...SPEC, state: 'Unavailable' } }]);
    kuma.say('MeshService');
    expect((await west.holds(web, (held) => held.spec['state'] === 'Unavailable')).generation).toBe(2);
  });

  it('takes absence for deletion only once it knows which global speaks', async () => {
    await rejoin({ MeshService: [], Mesh: [MESH] });
    await untilSoon(
      () => west.sync?.status().kinds.some(({ kind, held }) => kind === 'MeshService' && held === 1) === true,
    );
    expect(west.get(web)).toBeDefined();
    kuma.state.set('Config', [toClusterConfig('cluster-1')]);
    kuma.say('Config');
    await west.lacks(web);
  });

  it('keeps what another global does not name until the time has passed', async () => {
    await rejoin({ Config: [toClusterConfig('cluster-2')], MeshService: [], Mesh: [MESH] });
    await untilSoon(
      () => west.sync?.status().kinds.some(({ kind, held }) => kind === 'MeshService' && held === 1) === true,
    );
    clock.advance(HOLD - 1);
    expect(west.get(web)).toBeDefined();
    clock.advance(1);
    await west.lacks(web);
  });
});

describe('two zones under a Kuma global', () => {
  let kuma: KumaGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    kuma = new KumaGlobal(['MeshService', 'HostnameGenerator', 'MeshExternalService']);
    kuma.state.set('Config', [toClusterConfig('cluster-1')]);
    kuma.state.set('Mesh', [MESH]);
    await kuma.serve();
    [east, west] = [new TestZone('east'), new TestZone('west')];
    await Promise.all([east.join(kuma), west.join(kuma)]);
  });

  afterEach(async () => {
    await Promise.all([east.close(), west.close()]);
    kuma.close();
  });

  it('know which of their services was made first, and nothing of how it was sent (I3, I4)', async () => {
    await west.put('MeshService', 'older', SPEC, { team: 'db' });
    const [older, younger] = [west.id('MeshService', 'older'), east.id('MeshService', 'younger')];
    const [made, copy] = [await west.holds(older), await east.holds(older)];
    await east.put('MeshService', 'younger', SPEC);
    expect(made.creationOrder).toBeGreaterThan(0);
    expect(copy).toMatchObject({ creationOrder: made.creationOrder, spec: SPEC });
    expect(copy.createdAt).toBe(Math.floor(made.creationOrder / 1_000));
    expect(copy.labels).toEqual({ ...made.labels, 'kuma.io/origin': 'global' });
    expect((await west.holds(younger)).creationOrder).toBe((await east.holds(younger)).creationOrder);
    expect(made.creationOrder).toBeLessThan((await west.holds(younger)).creationOrder);
    const relayed = kuma.state.get('MeshService')?.map(({ labels }) => labels[CREATION_ORDER_LABEL]);
    expect(relayed).toEqual([String(made.creationOrder), expect.stringMatching(/^[0-9]+$/)]);
    expect(kuma.nacks).toEqual([]);
  });

  it('keep the creation order of a service through its changes', async () => {
    await west.put('MeshService', 'web', SPEC);
    const made = await east.holds(west.id('MeshService', 'web'));
    await west.put('MeshService', 'web', { ...SPEC, state: 'Unavailable' });
    const changed = await east.holds(made.id, ({ spec }) => spec['state'] === 'Unavailable');
    expect(changed).toMatchObject({ creationOrder: made.creationOrder, generation: 2 });
  });
});

describe('a Kuma zone under our global', () => {
  let global: TestGlobal;
  let west: TestZone;
  let client: Client;

  beforeEach(async () => {
    global = new TestGlobal();
    west = new TestZone('west');
    await global.put('Mesh', 'default', {});
    await global.serve();
    await west.join(global);
    await west.put('MeshService', 'ours', SPEC);
    await global.holds(west.id('MeshService', 'ours'));
    client = new Client(`127.0.0.1:${global.port}`, credentials.createInsecure());
  });

  afterEach(async () => {
    client.close();
    await west.close();
    await global.close();
  });

  const open = (method: 'globalToZoneSync' | 'zoneToGlobalSync', zone = 'kz') => {
    const { path, requestSerialize, responseDeserialize } = kdsSyncService[method];
    const headers = encodeZoneHeaders({ zone, version: '2.14.3' });
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, headers);
    return stream.on('error', () => undefined);
  };

  it('is given each kind whole: ours in its language, which global this is, and nothing of what we do not know', async () => {
    const answers = new Map<string, IncomingResponse>();
    const stream = open('globalToZoneSync');
    stream.on('data', (bytes: Buffer) => {
      const response = decodeResponse(bytes, KUMA_DIALECT);
      answers.set(response.kind, response);
    });
    const metadata = { version: '2.14.3', config: '{}', controlPlaneId: 'kz-1', features: [...NODE_FEATURES] };
    for (const kind of ['Mesh', 'Config', 'MeshService', 'TrafficRoute', 'Zone']) {
      stream.write(encodeRequest({ type: 'subscribe', kind, zone: 'kz', metadata, held: {} }));
    }
    await untilSoon(() => answers.size === 5);
    const names = (kind: string) =>
      answers.get(kind)?.resources.map((read) => formatWireKey(read.ok ? read.resource : read.fault));
    expect(names('MeshService')).toEqual([`${hashName('default', 'ours', 'west')}.default`]);
    expect(names('Mesh')).toEqual(['default.']);
    expect(names('Config')).toEqual(['kuma-cluster-id.']);
    expect([names('TrafficRoute'), names('Zone')]).toEqual([[], []]);
    expect(answers.get('Mesh')?.position).toBeUndefined();
    stream.cancel();
  });

  it('is known by the name of its connection, and its services reach our zones, whatever it claims', async () => {
    const stream = open('zoneToGlobalSync');
    const asked: string[] = [];
    stream.on('data', (bytes: Buffer) => {
      const request = decodeRequest(bytes);
      if (request.type !== 'subscribe') return;
      asked.push(request.kind);
      if (request.kind !== 'MeshService') return;
      const claimed = service('theirs', 'zone');
      stream.write(
        kumaResponse('MeshService', 1, [{ ...claimed, labels: { ...claimed.labels, 'kuma.io/zone': 'west' } }]),
      );
    });
    const id = { kind: 'MeshService', mesh: 'default', zone: 'kz', namespace: 'default', name: 'theirs' };
    const copy = await west.holds(id);
    expect(copy).toMatchObject({ labels: { 'kuma.io/zone': 'kz', 'kuma.io/origin': 'global' }, creationOrder: 0 });
    expect(Math.abs(copy.createdAt - systemClock.now())).toBeLessThan(3_600_000);
    expect(global.names('Zone')).toEqual(['kz', 'west']);
    expect(asked).not.toContain('Mesh');
    stream.cancel();
  });

  it('is passed the ingress of another Kuma zone by the name of that zone, and so are our zones', async () => {
    const labels = { 'kuma.io/display-name': 'ingress', 'kuma.io/origin': 'zone', 'kuma.io/zone': 'kz' };
    const made: WireResource = {
      kind: 'ZoneIngress',
      mesh: '',
      name: hashName('', 'ingress', 'kz'),
      labels,
      spec: { ...INGRESS, availableServices: tagged('another') },
    };
    const up = open('zoneToGlobalSync');
    up.on('data', (bytes: Buffer) => {
      const request = decodeRequest(bytes);
      if (request.type === 'subscribe' && request.kind === 'ZoneIngress')
        up.write(kumaResponse('ZoneIngress', 1, [made]));
    });
    const down = open('globalToZoneSync', 'kz2');
    const received = new Promise<IncomingResponse>((resolve) => {
      down.on('data', (bytes: Buffer) => {
        const response = decodeResponse(bytes, KUMA_DIALECT);
        if (response.resources.length > 0) resolve(response);
        else
          down.write(
            encodeRequest({ type: 'ack', kind: response.kind, zone: 'kz2', nonce: response.nonce, results: [] }),
          );
      });
    });
    down.write(encodeRequest({ type: 'subscribe', kind: 'ZoneIngress', zone: 'kz2', held: {} }));
    const [read] = (await received).resources;
    expect(read).toMatchObject({
      ok: true,
      resource: {
        name: made.name,
        labels: { ...labels, 'kuma.io/origin': 'global' },
        spec: { ...INGRESS, zone: 'kz', availableServices: tagged('kz') },
      },
    });
    const id = { kind: 'ZoneIngress', mesh: '', zone: 'kz', namespace: '', name: 'ingress' };
    expect((await west.holds(id)).spec).toEqual({ ...INGRESS, zone: 'kz', availableServices: tagged('kz') });
    up.cancel();
    down.cancel();
  });
});
