import { identityKey, type JsonObject, type Resource, type ResourceKey } from '@causeway/resources';
import { KumaGlobal } from '../../../../test/support/kuma-global';
import { KumaZone } from '../../../../test/support/kuma-zone';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';
import { findStoredInsight } from '../session/proxy-insights';
import type { InsightSource } from '../zone/insight-view';

const INGRESS = { networking: { address: '10.0.0.1', port: 10001 } };
const DATAPLANE = { networking: { address: '10.0.0.1', inbound: [{ port: 80, tags: { app: 'a' } }] } };
const SINCE = '2026-11-23T06:00:00.000Z';

/** Insights of a zone's proxies, set by the test. */
class Insights implements InsightSource {
  isLoaded = true;
  readonly known = new Map<string, JsonObject>();
  private readonly listeners = new Set<(owners: ReadonlySet<ResourceKey>) => void>();

  findInsight = ({ id }: Resource): JsonObject | undefined => this.known.get(id.name);

  subscribe(listener: (owners: ReadonlySet<ResourceKey>) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  say(owner: Resource['id'], insight: JsonObject | undefined): void {
    if (insight) this.known.set(owner.name, insight);
    else this.known.delete(owner.name);
    const key = identityKey(owner);
    for (const listener of this.listeners) listener(new Set([key]));
  }
}

function insight(connectTime: string, sent: string, more: JsonObject = {}): JsonObject {
  const status = { lastUpdateTime: connectTime, total: { responsesSent: sent } };
  return { subscriptions: [{ id: 'a', controlPlaneInstanceId: 'cp', connectTime, ...more, status }] };
}

/** As it comes from Kuma's message: counters are numbers. */
function asRead(spec: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(spec).replace(/"responsesSent":"(\d+)"/, '"responsesSent":$1')) as JsonObject;
}

describe('the connections of the proxies of a zone', () => {
  const insights = new Insights();
  const east = new TestZone('east', { insights });
  const [dataplane, ingress] = [east.id('Dataplane', 'a'), east.id('ZoneIngress', 'in')];
  afterAll(() => east.close());

  describe('on a global of ours', () => {
    const global = new TestGlobal();
    afterAll(() => global.close());

    const storedAt = (owner: Resource['id']): JsonObject | undefined => {
      const held = global.get(owner);
      return held && findStoredInsight(global.index, held);
    };
    const sent = (owner: Resource['id']): unknown =>
      Object(storedAt(owner)?.['subscriptions'])[0]?.status.total.responsesSent;
    const row = (): Resource | undefined => global.get({ ...dataplane, kind: 'DataplaneInsight' });

    it('are known once the zone knows them, and change with connections, not with counters', async () => {
      insights.isLoaded = false;
      await global.put('Mesh', 'default', {});
      await global.serve();
      await east.put('Dataplane', 'a', DATAPLANE);
      await east.put('ZoneIngress', 'in', INGRESS);
      insights.known.set('a', insight(SINCE, '1')).set('in', insight(SINCE, '7'));
      await east.join(global);
      await global.holds(dataplane);
      expect(storedAt(dataplane)).toBeUndefined();
      insights.isLoaded = true;
      await until('both are known', () => storedAt(dataplane) && storedAt(ingress));
      expect([sent(dataplane), sent(ingress)]).toEqual(['1', '7']);
      const before = row()?.revision;
      insights.say(dataplane, insight(SINCE, '2'));
      insights.say(ingress, insight(SINCE, '8', { disconnectTime: SINCE }));
      await until('the ingress is gone', () => Object(storedAt(ingress)?.['subscriptions'])[0]?.disconnectTime);
      expect([row()?.revision, sent(ingress)]).toEqual([before, '8']);
    });

    it('are the same after another session, and go with their owner', async () => {
      const before = row()?.revision;
      await east.leave();
      await east.join(global);
      await east.put('Dataplane', 'b', DATAPLANE);
      await global.holds(east.id('Dataplane', 'b'));
      insights.say(ingress, undefined);
      await until('nothing of the ingress', () => storedAt(ingress) === undefined && global.get(ingress));
      expect(row()?.revision).toBe(before);
      await east.delete('Dataplane', 'a');
      await until('no insight', () => row() === undefined);
      await east.leave();
    });
  });

  it('go to a Kuma global in its form, under the name of their Dataplane', async () => {
    const global = new KumaGlobal(['Dataplane', 'DataplaneInsight', 'ZoneIngress', 'ZoneIngressInsight']);
    await global.serve();
    await east.put('Dataplane', 'a', DATAPLANE);
    insights.known.set('a', insight(SINCE, '1')).set('in', insight(SINCE, '7'));
    await east.join(global);
    const of = (kind: string) => global.state.get(kind) ?? [];
    await until('both', () => of('DataplaneInsight').length > 0 && of('ZoneIngressInsight').length > 0);
    const names = of('Dataplane').filter(({ labels }) => labels['kuma.io/display-name'] === 'a');
    expect(of('DataplaneInsight')).toMatchObject([
      { mesh: 'default', name: names[0]?.name, spec: asRead(insight(SINCE, '1')) },
    ]);
    expect(of('ZoneIngressInsight')).toMatchObject([{ mesh: '', name: of('ZoneIngress')[0]?.name }]);
    expect(of('ZoneIngressInsight')[0]?.spec).toMatchObject(asRead(insight(SINCE, '7')));
    await east.leave();
    global.close();
  });
});

describe('the insights of a Kuma zone', () => {
  it('are stored with the Dataplane that they are of; counters alone are not', async () => {
    const global = new TestGlobal();
    const zone = new KumaZone('kz');
    await global.put('Mesh', 'default', {});
    await global.serve();
    const labels = { 'kuma.io/display-name': 'a', 'kuma.io/origin': 'zone', 'kuma.io/zone': 'kz' };
    const id = { kind: 'DataplaneInsight', mesh: 'default', zone: 'kz', namespace: 'default', name: 'a' };
    const stored: unknown[] = [];
    global.index.subscribe(({ changes }) => {
      for (const { id: of, after } of changes) if (of.kind === id.kind) stored.push(after?.spec);
    });
    const end = { disconnectTime: SINCE };
    const reported = [insight(SINCE, '1'), insight(SINCE, '2'), insight(SINCE, '3', end)];
    for (const [i, spec] of reported.entries()) {
      const later = {
        kind: 'ZoneEgressInsight',
        mesh: '',
        name: `later-${i}`,
        labels: { 'kuma.io/zone': 'kz' },
        spec: {},
      };
      const first = { kind: id.kind, mesh: 'default', name: 'a-hash', labels, spec };
      zone.tell(global, { DataplaneInsight: [first], ZoneEgressInsight: [later] });
      await global.holds({ kind: later.kind, mesh: '', zone: 'kz', namespace: '', name: later.name });
      zone.leave();
    }
    expect(stored).toMatchObject([asRead(insight(SINCE, '1')), asRead(insight(SINCE, '3', end))]);
    await global.close();
  });
});
