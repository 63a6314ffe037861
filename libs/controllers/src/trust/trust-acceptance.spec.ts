import { computeAuthorityId } from '@causeway/identity/testing';
import type { Identity, JsonObject, ResourceKey } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { EAST_AUTHORITY, NEXT_EAST_AUTHORITY } from '../../../../test/support/certificates';
import { idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import type { KnownProxy } from '../proxies/known-proxies';
import { zonesWithout } from './trust-acceptance';
import { createZoneTrustLoop, TrustAcceptanceReporter } from './trust-acceptance-loops';
import { AUTHORITY_PUBLISHER } from './trust-publisher';

const SECRETS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
const [OLD, NEW] = [computeAuthorityId(EAST_AUTHORITY), computeAuthorityId(NEXT_EAST_AUTHORITY)];
const BOTH = [OLD, NEW].sort();

interface ProxySketch {
  readonly authorities?: readonly string[];
  readonly connected?: boolean;
  readonly subscribed?: number;
  readonly mesh?: string;
}

function proxy(
  name: string,
  { authorities = [], connected = true, subscribed = 2, mesh = 'default' }: ProxySketch = {},
): KnownProxy {
  const owner = { ...idOf('Dataplane', name, { zone: 'west' }), mesh };
  const responses = { sent: 1, acked: 1, rejected: 0 };
  const facts: KnownProxy['facts'] = {
    kind: 'dataplane',
    owner,
    node: name,
    address: '',
    userAgent: '',
    form: 'delta',
    since: 0,
    streams: 1,
    types: [{ type: SECRETS, subscribed, held: 1, responses }],
    isSettled: true,
    authorities,
    rejected: [],
    refused: [],
  };
  return { proxy: `${mesh}.${name}`, connected, instance: 'a', revision: 1, lastSeen: 0, facts };
}

/** A proxy of the zone itself: an ingress asks for no trust, an egress for that of each mesh that leaves through it. */
function zoneProxy(kind: 'ingress' | 'egress', authoritiesIn: Readonly<Record<string, readonly string[]>>): KnownProxy {
  const known = proxy(kind, { subscribed: kind === 'egress' ? 2 : 0 });
  const owner = { ...idOf(kind === 'egress' ? 'ZoneEgress' : 'ZoneIngress', kind, { zone: 'west' }), mesh: '' };
  const { authorities: _, ...facts } = known.facts;
  return { ...known, proxy: `/${kind}/${kind}`, facts: { ...facts, kind, owner, authoritiesIn } };
}

/** The proxies of a zone, as a test defines them. */
class Proxies {
  isLoaded = true;
  heard = Infinity;
  private known: readonly KnownProxy[] = [];
  private version = 0;

  set(...known: readonly KnownProxy[]): void {
    this.known = known;
    this.version += 1;
  }

  all(): readonly KnownProxy[] {
    return this.known;
  }

  heardUpTo(): number {
    return this.heard;
  }

  changesSince(before: number | undefined) {
    return {
      next: this.version,
      owners: before === this.version ? [] : this.known.map((one): ResourceKey => `${one.proxy}////`),
    };
  }
}

const bundles = (...pems: readonly string[]): JsonObject[] => pems.map((value) => ({ type: 'Pem', pem: { value } }));
const ownId = (mesh = 'default'): Identity => idOf('MeshTrust', 'authority-1', { zone: 'west', mesh });
const own = (mesh = 'default'): Change =>
  put(
    ownId(mesh),
    { trustDomain: `${mesh}.west.mesh.local`, caBundles: bundles(EAST_AUTHORITY) },
    { 'kuma.io/managed-by': AUTHORITY_PUBLISHER },
  );
const ofEast = (...pems: readonly string[]): Change =>
  put(idOf('MeshTrust', 'derived-1', { zone: '' }), {
    trustDomain: 'default.east.mesh.local',
    caBundles: bundles(...pems),
  });
const zoneId = (name: string): Identity => ({ kind: 'Zone', mesh: '', zone: '', namespace: '', name });
const zone = (name: string, spec: JsonObject = {}): Change => put(zoneId(name), spec);

describe('what the proxies of a zone have accepted', () => {
  let harness: LoopHarness;
  let replica: Replica;
  let proxies: Proxies;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    proxies = new Proxies();
    await replica.lead([new TrustAcceptanceReporter('west', proxies)]);
    await apply(own(), ofEast(EAST_AUTHORITY));
  });
  afterEach(() => harness.stop());

  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const look = async (...known: readonly KnownProxy[]): Promise<unknown> => {
    proxies.set(...known);
    harness.clock.advance(1_000);
    await replica.settle();
    return said();
  };
  const said = async (id = ownId()): Promise<unknown> => (await harness.get(id))?.status?.['proxies'];

  it('is an empty list while nothing is rotated, and nothing is written for proxies that come and go', async () => {
    expect(await said()).toEqual({ accepted: [] });
    const { revision } = harness;
    expect(await look(proxy('a'), proxy('b', { authorities: [OLD] }))).toEqual({ accepted: [] });
    expect(harness.revision).toBe(revision);
  });

  it('of an egress in each mesh that leaves through it; an ingress needs none', async () => {
    await apply(own('other'), own('third'), ofEast(EAST_AUTHORITY, NEXT_EAST_AUTHORITY));
    const egress = (authorities: readonly string[]) => zoneProxy('egress', { default: authorities, other: [] });
    expect(await look(proxy('a', { authorities: BOTH }), zoneProxy('ingress', {}), egress([OLD]))).toEqual({
      accepted: [OLD],
      missing: { total: 1, items: ['/egress/egress'] },
    });
    expect(await look(egress([]))).toEqual({ accepted: [], missing: { total: 1, items: ['/egress/egress'] } });
    expect(await look(egress(BOTH))).toEqual({ accepted: BOTH });
    // It asks for nothing of this mesh.
    expect(await look(zoneProxy('egress', { other: [] }))).toEqual({ accepted: BOTH });
  });

  it('are the authorities of a domain with two that every connected proxy of the mesh has, and who lacks one', async () => {
    await apply(own('other'), ofEast(EAST_AUTHORITY, NEXT_EAST_AUTHORITY));
    expect(await said()).toEqual({ accepted: BOTH });
    expect(
      await look(
        proxy('a', { authorities: BOTH }),
        proxy('b', { authorities: [OLD] }),
        proxy('gone', { connected: false }),
        proxy('plain', { subscribed: 0 }),
        proxy('else', { mesh: 'other' }),
      ),
    ).toEqual({ accepted: [OLD], missing: { total: 1, items: ['default.b'] } });
    expect(await said(ownId('other'))).toEqual({ accepted: [] });
    expect(await look(proxy('a', { authorities: BOTH }), proxy('b', { authorities: BOTH }))).toEqual({
      accepted: BOTH,
    });
    await apply(ofEast(NEXT_EAST_AUTHORITY));
    expect(await said()).toEqual({ accepted: [] });
  });

  it('is nothing before each replica has reported the proxies that connected before the new authority was sent', async () => {
    proxies.heard = harness.revision;
    await apply(ofEast(EAST_AUTHORITY, NEXT_EAST_AUTHORITY));
    const changed = (await harness.get(idOf('MeshTrust', 'derived-1', { zone: '' })))?.revision ?? 0;
    expect(changed).toBeGreaterThan(proxies.heard);
    expect(await look(proxy('a', { authorities: BOTH }))).toEqual({ accepted: [] });
    proxies.heard = changed;
    const late = proxy('late', { authorities: [OLD] });
    expect(await look(proxy('a', { authorities: BOTH }), late)).toEqual({
      accepted: [OLD],
      missing: { total: 1, items: ['default.late'] },
    });
    expect(await look(proxy('a', { authorities: BOTH }), proxy('late', { authorities: BOTH }))).toEqual({
      accepted: BOTH,
    });
  });

  it('is looked at again when the replicas have reported, though no proxy came or went, and what was accepted stays so', async () => {
    proxies.heard = harness.revision;
    await apply(ofEast(EAST_AUTHORITY, NEXT_EAST_AUTHORITY));
    expect(await said()).toEqual({ accepted: [] });
    proxies.heard = harness.revision;
    harness.clock.advance(1_000);
    await replica.settle();
    expect(await said()).toEqual({ accepted: BOTH });
    // The trust is written again: nothing needs to be sent anew.
    await apply(
      put(idOf('MeshTrust', 'derived-1', { zone: '' }), {
        trustDomain: 'default.east.mesh.local',
        caBundles: bundles(NEXT_EAST_AUTHORITY, EAST_AUTHORITY),
      }),
    );
    expect(await said()).toEqual({ accepted: BOTH });
  });

  it('is said of nothing before the sessions of proxies are read, and names few of many', async () => {
    proxies.isLoaded = false;
    await apply(ofEast(EAST_AUTHORITY, NEXT_EAST_AUTHORITY));
    expect(await said()).toEqual({ accepted: [] });
    proxies.isLoaded = true;
    const many = Array.from({ length: 500 }, (_, i) => proxy(`p${String(i).padStart(3, '0')}`));
    expect(await look(...many)).toEqual({
      accepted: [],
      missing: { total: 500, items: ['default.p000', 'default.p001', 'default.p002'] },
    });
  });
});

describe('what the global says of the proxies of a zone', () => {
  let harness: LoopHarness;
  let replica: Replica;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    await replica.lead([createZoneTrustLoop()]);
    await apply(zone('east'), zone('west'), own());
  });
  afterEach(() => harness.stop());

  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
    await replica.caughtUp();
  };
  const says = (proxies: JsonObject, id = ownId()): Promise<void> =>
    apply({ type: 'patch', id, expect: 'any', status: { proxies } });
  const trustOf = async (name: string): Promise<unknown> => (await harness.get(zoneId(name)))?.status?.['trust'];
  const without = (ids: readonly string[], ...meshes: readonly string[]) =>
    zonesWithout(replica.index, { zone: 'east', meshes: new Set(meshes) }, ids);

  it('is what its MeshTrusts say, by mesh, beside whatever else stands at the Zone, and goes with them', async () => {
    expect(await trustOf('west')).toBeUndefined();
    await apply({ type: 'patch', id: zoneId('west'), expect: 'any', status: { lost: { since: 1 } } }, own('other'));
    await says({ accepted: BOTH }, ownId('other'));
    await says({ accepted: [OLD], missing: { total: 2, items: ['default.a', 'default.b'] } });
    expect((await harness.get(zoneId('west')))?.status).toEqual({
      lost: { since: 1 },
      trust: [
        { mesh: 'default', accepted: [OLD], missing: { total: 2, items: ['default.a', 'default.b'] } },
        { mesh: 'other', accepted: BOTH },
      ],
    });
    expect(await trustOf('east')).toBeUndefined();
    await apply(remove(ownId()), remove(ownId('other')));
    expect((await harness.get(zoneId('west')))?.status).toEqual({ lost: { since: 1 } });
  });

  it('tells the zone that rotates who is missing, and which zones say nothing', async () => {
    expect(without(BOTH, 'default')).toEqual({ missing: [], unheard: ['west'] });
    await says({ accepted: [OLD], missing: { total: 5, items: ['default.a', 'default.b', 'default.c'] } });
    const missing = ['zone west, mesh default: not accepted by default.a, default.b, default.c and 2 more'];
    expect(without(BOTH, 'default')).toEqual({ missing, unheard: [] });
    expect(without([OLD], 'default')).toEqual({ missing: [], unheard: [] });
    expect(without(BOTH, 'default', 'other')).toEqual({ missing, unheard: ['west'] });
    await says({ accepted: [] });
    await apply({
      type: 'patch',
      id: zoneId('west'),
      expect: 'any',
      status: { ...(await harness.get(zoneId('west')))?.status, lost: {} },
    });
    expect(without(BOTH, 'default').missing).toEqual(['zone west (lost), mesh default: has not received it']);
    await apply(zone('west', { enabled: false }));
    expect(without(BOTH, 'default')).toEqual({ missing: [], unheard: [] });
  });

  it('is bounded whatever a zone sends', async () => {
    const long = 'x'.repeat(10_000);
    await says({ accepted: [...Array(5_000).keys()].map((i) => i.toString(16).padStart(32, '0')) });
    expect(JSON.stringify(await trustOf('west')).length).toBeLessThan(40_000);
    await says({ accepted: [1, null, long, OLD], missing: { total: -1, items: [long, 5, long, long, long] } });
    expect(await trustOf('west')).toEqual([{ mesh: 'default', accepted: [OLD] }]);
    await says({ accepted: [], missing: { total: 9, items: [long, long, long, long] } });
    expect(JSON.stringify(await trustOf('west')).length).toBeLessThan(500);
    await says({ accepted: 'all' });
    expect(await trustOf('west')).toBeUndefined();
  });
});
