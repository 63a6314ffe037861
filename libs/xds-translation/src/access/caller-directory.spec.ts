import { identityKey, type JsonObject, type Resource } from '@causeway/resources';
import { countSteps } from '../../../../test/support/count-steps';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { CallerDirectory, type CallersChange } from './caller-directory';

const id = (workload: string, zone = 'east'): string => `spiffe://default.${zone}.mesh.local/workload/${workload}`;
const identity = (path?: JsonObject): Resource =>
  sketch(
    'MeshIdentity',
    'identity',
    {
      selector: { dataplane: { matchLabels: {} } },
      ...(path && { spiffeID: path }),
      provider: { type: 'Bundled', bundled: {} },
    },
    { zone: '' },
  );
const dataplane = (name: string, namespace: string, workload = name, zone = 'east'): Resource =>
  sketch(
    'Dataplane',
    name,
    { networking: { address: '10.0.0.1', inbound: [{ port: 80 }] } },
    { zone, namespace, labels: { 'kuma.io/workload': workload } },
  );
const service = (name: string, namespace: string, zone: string, ...ids: readonly string[]): Resource =>
  sketch(
    'MeshService',
    name,
    { ports: [{ port: 80 }], identities: ids.map((value) => ({ type: 'SpiffeID', value })) },
    { zone, namespace },
  );

class Directory {
  readonly zone: TrafficZone;
  readonly directory: CallerDirectory;
  last: CallersChange = new Set();

  constructor(...resources: readonly Resource[]) {
    this.zone = new TrafficZone(resources);
    this.directory = new CallerDirectory(this.zone.index, 'east');
    for (const _ of this.directory.load());
    this.zone.index.subscribe(({ changes }) => (this.last = this.directory.observe(changes)));
  }

  get facts() {
    return this.directory.of('default');
  }

  /** Ids with what carries them. */
  get known(): Readonly<Record<string, readonly string[]>> {
    const textOf = (each: string): readonly string[] =>
      this.facts
        .listBearers(each)
        .map(({ namespace, service: of }) => (of === undefined ? namespace : `${namespace}/${of}`))
        .sort();
    return Object.fromEntries([...this.facts.ids()].sort().map((each) => [each, textOf(each)]));
  }
}

describe('who carries an id', () => {
  it('the Dataplanes of this zone, and the services of all zones', () => {
    const { known } = new Directory(
      identity(),
      dataplane('web-1', 'shop', 'web'),
      dataplane('web-2', 'shop', 'web'),
      dataplane('away', 'shop', 'away', 'west'),
      service('web', 'shop', 'east', id('web')),
      service('tool', 'dev', 'west', id('tool', 'west')),
    );
    expect(known).toEqual({ [id('web')]: ['shop', 'shop', 'shop/web'], [id('tool', 'west')]: ['dev/tool'] });
  });

  it('no zone says anything of the ids of another', () => {
    const { known } = new Directory(identity(), service('thief', 'shop', 'west', id('web'), id('own', 'west')));
    expect(known).toEqual({ [id('own', 'west')]: ['shop/thief'] });
  });

  it('is followed change by change, and says of which namespaces', () => {
    const directory = new Directory(identity());
    const { zone } = directory;
    zone.put(dataplane('web-1', 'shop', 'web'));
    expect(directory.last).toEqual(new Set(['default/shop']));
    zone.put(dataplane('web-2', 'shop', 'web'), service('web', 'shop', 'east', id('web')));
    zone.put(dataplane('web-1', 'shop', 'other'));
    expect(directory.known).toEqual({ [id('web')]: ['shop', 'shop/web'], [id('other')]: ['shop'] });
    const same = service('web', 'shop', 'east', id('web'));
    zone.put({ ...same, spec: { ...same.spec, state: 'Available' } });
    expect(directory.last).toEqual(new Set());
    zone.delete(dataplane('web-1', 'shop'), dataplane('web-2', 'shop'), service('web', 'shop', 'east'));
    expect([directory.known, [...directory.facts.idsIn('shop')]]).toEqual([{}, []]);
  });

  it('other MeshIdentities are other ids of all', () => {
    const directory = new Directory(identity(), dataplane('web-1', 'shop', 'web'));
    directory.zone.put(identity({ path: '/ns/{{ .Namespace }}/{{ .Workload }}' }));
    expect(directory.last).toBe('all');
    expect(Object.keys(directory.known)).toEqual(['spiffe://default.east.mesh.local/ns/shop/web']);
  });

  const state = (zone: string, spec: JsonObject): Resource => sketch('IdentityPathState', 'zone', spec, { zone });

  it('has two ids while the form of ids changes, and which these are is followed', () => {
    const both = ['spiffe://default.east.mesh.local/ns/shop/workload/web', id('web')];
    const directory = new Directory(identity(), dataplane('web-1', 'shop', 'web'), dataplane('web', 'default'));
    const step = (spec: JsonObject): readonly string[] => {
      directory.zone.put(state('east', { namespaces: ['shop'], ...spec }));
      return [...directory.facts.idsIn('shop')].sort();
    };
    expect(step({ signs: 'Workload', step: 'Announcing' })).toEqual(both);
    expect(directory.last).toBe('all');
    expect(directory.facts.changing()).toEqual([
      { domains: ['default', 'default.east.mesh.local'], namespaces: ['shop'] },
    ]);
    expect(step({ signs: 'Namespaced', step: 'Retiring', until: 5 })).toEqual(both);
    expect(step({ signs: 'Namespaced', step: 'Retiring', until: 6 })).toEqual(both);
    expect(directory.last).toEqual(new Set());
    expect(step({ signs: 'Namespaced' })).toEqual([both[0]]);
    expect([...directory.facts.idsIn('default')]).toEqual([id('web')]);
    expect(directory.facts.changing()).toEqual([]);
  });

  it('another zone says which of its namespaces share an id, of its own trust domains', () => {
    const directory = new Directory(identity(), service('web', 'shop', 'west', id('web', 'west')));
    const shared = [id('web', 'west'), id('web')].map((each) => ({ id: each, namespaces: ['dev', 'shop'] }));
    directory.zone.put(state('west', { signs: 'Workload', shared }));
    expect(directory.known).toEqual({ [id('web', 'west')]: ['dev', 'shop', 'shop/web'] });
    directory.zone.delete(state('west', {}));
    expect(directory.known).toEqual({ [id('web', 'west')]: ['shop/web'] });
  });

  it.each<[string, JsonObject | undefined, readonly string[], readonly string[]]>([
    ['the default', undefined, ['default.west.mesh.local'], ['default', 'default.west.mesh.local']],
    [
      'one that names the zone',
      { trustDomain: '{{ .Zone }}.example' },
      ['default.west.mesh.local', 'west.example'],
      ['default', 'default.west.mesh.local', 'west.example'],
    ],
    [
      'one for all zones',
      { trustDomain: 'all.example' },
      ['default.west.mesh.local'],
      ['all.example', 'default', 'default.west.mesh.local'],
    ],
  ])('the trust domains of a zone: %s', (_, template, sure, possible) => {
    expect(new Directory(identity(template)).facts.listDomains('west')).toEqual({ sure, possible });
  });

  it.each([100, 1_000])('one more of %i Dataplanes of an id costs the same', (instances) => {
    const directory = new Directory(
      identity(),
      ...Array.from({ length: instances }, (_, n) => dataplane(`web-${n}`, 'shop', 'web')),
    );
    const after = dataplane('web-new', 'dev', 'web');
    const change = { id: after.id, key: identityKey(after.id), before: undefined, after };
    let touched: CallersChange = 'all';
    expect(countSteps(() => (touched = directory.directory.observe([change])))).toBeLessThan(20);
    expect(touched).toEqual(new Set(['default/dev', 'default/shop']));
    expect([...directory.facts.idsIn('dev')]).toEqual([id('web')]);
  });
});
