import { fillAtOnce } from '@causeway/store/testing';
import { FollowedRoutes } from '@causeway/meshes';
import { Cluster, Cluster_LbPolicy, TlsSecret } from '@causeway/proto-gen';
import { createHash, X509Certificate } from 'node:crypto';
import { EAST_AUTHORITY, NEXT_EAST_AUTHORITY } from '../../../../test/support/certificates';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { until } from '../../../../test/support/until';
import { WatchedView } from '../../../../test/support/watched-view';
import { XdsPlane } from '../../../../test/support/xds-plane';
import { TRUST_SECRET } from '@causeway/xds-translation';
import { IDENTITY_SECRET } from '@causeway/xds-translation/testing';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { zoneResources } from '../../../../test/support/zone-resources';

const { cluster, secret } = RESOURCE_TYPES;

describe('what is known of a proxy', () => {
  let plane: XdsPlane;
  beforeEach(async () => {
    plane = new XdsPlane();
    await plane.start();
  });
  afterEach(() => plane.stop());
  const typeOf = (type: string) => plane.server.proxies()[0]?.types.find((one) => one.type === type);
  const rejected = () => typeOf(cluster)?.rejected.map(({ name }) => name);

  it('each resource that it rejects, until it accepts or drops it; what it rejects is not applied', async () => {
    plane.source.put(Cluster, { name: 'one' }, { name: 'two' }, { name: 'six' });
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster, resourceNamesSubscribe: ['one', 'two', 'six'] });
    const before = plane.source.revision;
    proxy.nack(await proxy.response(0), 'cluster one: no, cluster two: no');
    await until('both', () => rejected()?.join() === 'one,two');
    plane.source.put(Cluster, { name: 'six', lbPolicy: Cluster_LbPolicy.RANDOM });
    proxy.nack(await proxy.response(1), 'cluster six: no');
    await until('all three', () => rejected()?.join() === 'one,two,six');
    expect(typeOf(cluster)).toMatchObject({
      ackedRevision: plane.source.revision,
      responses: { sent: 2, rejected: 2 },
    });
    expect(typeOf(cluster)?.appliedRevision).toBeLessThan(before);
    plane.source.put(Cluster, { name: 'one', lbPolicy: Cluster_LbPolicy.RANDOM });
    proxy.ack(await proxy.response(2));
    await until('the ack', () => rejected()?.join() === 'two,six');
    proxy.send({ typeUrl: cluster, resourceNamesUnsubscribe: ['two', 'six'] });
    await until('nothing', () => rejected()?.length === 0);
    expect(typeOf(cluster)?.appliedRevision).toBe(plane.source.revision);
  });

  it('what breaks rules of what it asks for, and of what its Dataplane declares, which it cannot ask for', async () => {
    const violations = [{ field: 'a', reason: 'is wrong', rule: 'wrong-form' }] as const;
    const refusal = (name: string) => ({ type: cluster, name, violations });
    plane.source.refusals.push(refusal('asked'), refusal('other'), { ...refusal('declared'), isDeclared: true });
    plane.delta().send({ typeUrl: cluster, resourceNamesSubscribe: ['asked'] });
    const shown = await until('its status', () => plane.server.proxies()[0]?.refused);
    expect(shown.map(({ name }) => name)).toEqual(['asked', 'declared']);
  });

  it('of several rejected at once each with its own line, and none whose name is only a part of another', async () => {
    const [own, longer, other] = ['inbound:10.0.0.1:80', 'inbound:10.0.0.1:8080', 'outbound'];
    plane.source.put(Cluster, { name: own }, { name: longer }, { name: other });
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster });
    const text = `Error adding/updating cluster(s) ${longer}: cannot bind '10.0.0.1:8080'\n${other}: no way.\n`;
    proxy.nack(await proxy.response(0), text);
    await until('the rejection', () => rejected()?.length === 2);
    expect(typeOf(cluster)?.rejected.map((one) => [one.name, one.text])).toEqual([
      [longer, `Error adding/updating cluster(s) ${longer}: cannot bind '10.0.0.1:8080'`],
      [other, `${other}: no way.`],
    ]);
    expect(typeOf(cluster)?.lastRejection).toMatchObject({ names: [longer, other], text });
  });

  it('nothing counts as acked of what a proxy brings along, until it has answered', async () => {
    plane.source.put(Cluster, { name: 'a' });
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster, initialResourceVersions: { a: 'of long ago' }, resourceNamesSubscribe: ['a'] });
    const response = await proxy.response(0);
    expect(typeOf(cluster)).toMatchObject({ ackedRevision: -1, appliedRevision: -1 });
    proxy.ack(response);
    await until('the ack', () => typeOf(cluster)?.ackedRevision === plane.source.revision);
  });

  it('the versions of its secrets that it has accepted', async () => {
    const value = { specifier: { $case: 'inlineString' as const, value: 'x' } };
    const type = { $case: 'validationContext' as const, value: { trustedCa: value } };
    const [first] = plane.source.put(TlsSecret, { name: TRUST_SECRET, type });
    const proxy = plane.delta();
    proxy.send({ typeUrl: secret, resourceNamesSubscribe: [TRUST_SECRET] });
    const response = await proxy.response(0);
    expect(typeOf(secret)?.versions).toEqual({ [TRUST_SECRET]: '' });
    proxy.ack(response);
    await until('the version', () => typeOf(secret)?.versions?.[TRUST_SECRET] === first?.version);
  });
});

describe('the source of a zone', () => {
  const view = { mesh: 'default', listed: 'all' } as const;
  const trust = (...pems: readonly string[]) =>
    sketch('MeshTrust', 'east', {
      trustDomain: 'default.east.mesh.local',
      caBundles: pems.map((value) => ({ type: 'Pem', pem: { value } })),
    });

  it('counts by the revisions of the log', () => {
    const zone = new TrafficZone();
    const source = zoneResources(zone, 'west');
    source.follow();
    const { revisions } = new WatchedView(source, view, { [secret]: [TRUST_SECRET] });
    zone.put(sketch('Zone', 'east', {}));
    zone.put(trust('x'));
    expect([source.revision, source.point?.revision, zone.index.point?.revision]).toEqual([2, 2, 2]);
    expect(revisions).toEqual([2]);
    // A view without a revision is sent as of the latest: it is not acked before it is answered.
    source.viewChanged(view);
    expect(revisions).toEqual([2, 2]);
  });

  it('is read anew in slices: it serves what it had and stays at its revision until all is there', async () => {
    const zone = new TrafficZone([trust(EAST_AUTHORITY)]);
    const work: Iterable<unknown>[] = [];
    const routes = new FollowedRoutes({ index: zone.index, zone: 'west', meshes: zone.access.meshes, run: fillAtOnce });
    const source = zoneResources(zone, 'west', { routes, run: (steps) => void work.push(steps) });
    source.follow();
    const announced: number[] = [];
    source.subscribe({
      changed: () => undefined,
      relisted: () => undefined,
      allChanged: (at) => void announced.push(at),
    });
    const finish = (n: number): void => {
      for (const _ of work[n] ?? []);
    };
    let isLoaded = false;
    const loaded = source.whenLoaded().then(() => (isLoaded = true));
    await Promise.resolve();
    expect(isLoaded).toBe(false);
    finish(0);
    // Kept resources that are no longer made are dropped with the next piece of work.
    finish(1);
    await loaded;
    const first = source.get(view, secret, TRUST_SECRET);
    expect(first).toMatchObject({ name: TRUST_SECRET });
    // Another load of the store, and a third while that is read: only the last counts.
    zone.index.load({ point: { incarnation: 'other', revision: 7 }, resources: [], tombstones: [] });
    zone.index.load({
      point: { incarnation: 'third', revision: 3 },
      resources: [trust(NEXT_EAST_AUTHORITY)],
      tombstones: [],
    });
    expect([source.get(view, secret, TRUST_SECRET), source.revision]).toEqual([first, 0]);
    finish(2);
    expect([announced, source.revision]).toEqual([[1], 0]);
    finish(3);
    expect([announced, source.revision, source.point?.revision]).toEqual([[1, 1], 3, 3]);
    expect(source.get(view, secret, TRUST_SECRET)).not.toEqual(first);
  });

  it('knows the authorities of the trust that it served', () => {
    const zone = new TrafficZone([trust(EAST_AUTHORITY, NEXT_EAST_AUTHORITY)]);
    const source = zoneResources(zone, 'west');
    const served = source.get(view, secret, TRUST_SECRET);
    const idOf = (pem: string) => createHash('sha256').update(new X509Certificate(pem).raw).digest('hex').slice(0, 32);
    expect(typeof served === 'object' && source.findAuthorities(served.version)).toEqual(
      [EAST_AUTHORITY, NEXT_EAST_AUTHORITY].map(idOf).sort(),
    );
    expect(source.findAuthorities('another')).toBeUndefined();
  });

  it('names what it does not send for the proxies that would have it', () => {
    const zone = new TrafficZone();
    const source = zoneResources(zone, 'west');
    const served = { ...view, identity: () => ({ chain: '', key: { path: '' } }) };
    expect(source.get(served, secret, IDENTITY_SECRET)).toBeUndefined();
    const names = (of: typeof view) => [...source.refused({ id: 'a', view: of })].map(({ name }) => name);
    expect(names(served)).toEqual([IDENTITY_SECRET]);
    expect(names(view)).toEqual([]);
  });
});
