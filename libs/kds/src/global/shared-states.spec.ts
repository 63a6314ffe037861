import fc from 'fast-check';
import { coreKinds } from '@causeway/kinds';
import { identityKey, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import { ResourceIndex, type IndexChange } from '@causeway/store';
import { isSentDown, MeshView, Outbox, type OutboundMessage, type SyncPeer } from '@causeway/sync';
import { CAUSEWAY_DIALECT } from '../../testing/dialects';
import { toOutboundItem, type OutboundItem } from '../session/outbound/peer-index-view';
import { ResourceEncoder } from '../wire/resource-encoder';
import { SharedStates } from './shared-states';

const KIND = 'MeshService';
const ZONES = ['east', 'west', 'north', 'south'] as const;
const LIMITS = { bytes: 2_000, chunked: true };
const ORIGIN = { incarnation: 'i', revision: 1, committedAt: 0 };

type Place = Pick<Identity, 'kind' | 'name' | 'zone'>;

function rowOf({ kind, name, zone }: Place, revision: number, spec: JsonObject): Resource {
  const service = kind === KIND;
  return {
    id: { kind, mesh: service ? 'default' : '', zone, namespace: service ? 'default' : '', name },
    uid: name,
    labels: service ? { 'kuma.io/origin': 'zone', 'kuma.io/zone': zone } : { 'kuma.io/origin': 'global' },
    spec,
    generation: 1,
    creationOrder: revision,
    createdAt: 0,
    modifiedAt: 0,
    revision,
    origin: { ...ORIGIN, revision },
    freed: [],
  };
}

function requireKind(name: string) {
  const kind = coreKinds.kind(name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}

interface JoinedZone {
  readonly outbox: Outbox<OutboundItem>;
  /** Versions by name on the wire. */
  readonly holds: Map<string, string>;
  /** The names of all that it was sent. */
  readonly sent: string[];
}

/** A global whose zones join, read and acknowledge one step at a time. */
class Mesh {
  readonly index = new ResourceIndex();
  readonly zones = new Map<string, JoinedZone>();
  /** Messages of first states, in order. */
  readonly parts: OutboundMessage<OutboundItem>['parts'][number][] = [];
  time = 0;
  private revision = 1;
  private view: MeshView;
  private readonly kind = requireKind(KIND);
  private readonly encoder = new ResourceEncoder({ role: 'global' });
  private readonly states: SharedStates;

  constructor(blockKeys: number) {
    const zones = ZONES.map((name) => rowOf({ kind: 'Zone', name, zone: '' }, 1, {}));
    this.index.load({ point: { incarnation: 'i', revision: 1 }, resources: zones, tombstones: [] });
    this.view = this.readView();
    this.states = new SharedStates({
      index: this.index,
      isVisible: (kind, resource, peer) => isSentDown(kind, resource, peer, this.view),
      encode: (resource, dialect) => toOutboundItem(this.encoder, resource, dialect),
      now: () => this.time,
      blockKeys,
    });
    this.index.subscribe(({ changes }) => this.follow(changes));
  }

  put(kind: string, name: string, zone: string, spec: JsonObject): void {
    const revision = ++this.revision;
    this.index.apply({ revision, changes: [{ type: 'put', resource: rowOf({ kind, name, zone }, revision, spec) }] });
  }

  delete(name: string, zone: string): void {
    const { id } = rowOf({ kind: KIND, name, zone }, 1, {});
    if (!this.index.get(id)) return;
    const revision = ++this.revision;
    this.index.apply({
      revision,
      changes: [{ type: 'delete', tombstone: { id, revision, deletedAt: 0, freed: [] } }],
    });
  }

  join(zone: string): void {
    const peer = { zone, causeway: true };
    const get = (key: string): OutboundItem | undefined => {
      const resource = this.index.byIdentityKey(key);
      return resource && this.itemFor(resource, peer, this.view);
    };
    const source = {
      initialState: () => this.states.read(this.kind, { peer, dialect: CAUSEWAY_DIALECT, limits: LIMITS }),
      get,
      revision: () => this.revision,
      now: () => this.time,
    };
    const outbox = new Outbox(source, LIMITS);
    outbox.subscribe(KIND);
    this.zones.set(zone, { outbox, holds: new Map(), sent: [] });
  }

  /** Number of messages without content. */
  idle = 0;

  /** The zone takes one message. Returns false if there is none. */
  step(zone: string): boolean {
    const joined = this.zones.get(zone);
    const message = joined?.outbox.take();
    if (!joined || !message) return false;
    const visible = this.visibleTo(zone);
    for (const { wireKey, version } of message.put) expect(visible.get(wireKey)).toBe(version);
    if (message.put.length + message.removed.length === 0) this.idle += 1;
    for (const { wireKey, version } of message.put) joined.holds.set(wireKey, version);
    joined.sent.push(...message.put.map(({ wireKey }) => wireKey));
    for (const wireKey of message.removed) joined.holds.delete(wireKey);
    this.parts.push(...message.parts);
    joined.outbox.acknowledge(KIND, message.nonce, []);
    return true;
  }

  /** What the zone may have, by name on the wire. */
  visibleTo(zone: string): Map<string, string> {
    const items = [...this.index.ofKind(KIND)].flatMap(
      (resource) => this.itemFor(resource, { zone, causeway: true }, this.view) ?? [],
    );
    return new Map(items.map(({ wireKey, version }) => [wireKey, version]));
  }

  private itemFor(resource: Resource, peer: SyncPeer, view: MeshView): OutboundItem | undefined {
    if (!isSentDown(this.kind, resource, peer, view)) return undefined;
    return toOutboundItem(this.encoder, resource, CAUSEWAY_DIALECT);
  }

  /** As the fan-out of a global does. */
  private follow(changes: readonly IndexChange[]): void {
    const before = this.view;
    const hasOtherRules = changes.some(({ id }) => id.kind === 'Zone');
    if (hasOtherRules) this.view = this.readView();
    this.states.apply(changes, hasOtherRules);
    const services = hasOtherRules
      ? [...this.index.ofKind(KIND)].map((each) => ({ key: identityKey(each.id), id: each.id, before: each }))
      : changes;
    for (const [zone, { outbox }] of this.zones) {
      const peer = { zone, causeway: true };
      for (const { key, id, before: was } of services)
        outbox.mark(id.kind, key, was && this.itemFor(was, peer, before));
    }
  }

  private readView(): MeshView {
    return MeshView.of([{ name: 'default', parameters: {} }], this.index.ofKind('Zone'));
  }
}

const ports = [{ port: 80, appProtocol: 'http' }];
const rules: readonly JsonObject[] = [
  {},
  { export: { mode: 'All' } },
  { export: { mode: 'None' } },
  { export: { mode: 'Subset', zones: ['west'] } },
  { export: { mode: 'Subset', zones: ['north', 'east'] } },
];
const zoneName = fc.constantFrom(...ZONES);
const serviceName = fc.integer({ min: 0, max: 12 }).map((n) => `s${n}`);

type Step = (mesh: Mesh) => void;
const change: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(serviceName, zoneName, fc.constantFrom(...rules), fc.integer()).map(
    ([name, zone, rule, n]): Step =>
      (mesh) =>
        mesh.put(KIND, name, zone, {
          ports,
          state: 'Available',
          selector: { dataplaneTags: { n: String(n) } },
          ...rule,
        }),
  ),
  fc.tuple(serviceName, zoneName).map(
    ([name, zone]): Step =>
      (mesh) =>
        mesh.delete(name, zone),
  ),
  fc.tuple(zoneName, fc.boolean()).map(
    ([zone, enabled]): Step =>
      (mesh) =>
        mesh.put('Zone', zone, '', { enabled }),
  ),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: change },
  {
    weight: 1,
    arbitrary: zoneName.map(
      (zone): Step =>
        (mesh) =>
          mesh.join(zone),
    ),
  },
  {
    weight: 4,
    arbitrary: zoneName.map(
      (zone): Step =>
        (mesh) =>
          void mesh.step(zone),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step>((mesh) => void (mesh.time += 61_000)) },
);

it('each zone gets exactly what it may have, however its steps and changes meet', () => {
  fc.assert(
    fc.property(fc.constantFrom(2, 8), fc.array(step, { maxLength: 100, size: 'max' }), (blockKeys, steps) => {
      const mesh = new Mesh(blockKeys);
      for (const each of steps) each(mesh);
      for (const [zone, { holds }] of mesh.zones) {
        while (mesh.step(zone));
        expect(holds).toEqual(mesh.visibleTo(zone));
      }
    }),
    { numRuns: 1000 },
  );
});

describe('zones that join', () => {
  const fill = (mesh: Mesh): void => {
    for (const zone of ['east', 'west'])
      for (let n = 0; n < 8; n++) mesh.put(KIND, `s${n}`, zone, { ports, state: 'Available' });
  };
  const readAll = (mesh: Mesh, zone: string): Mesh['parts'] => {
    const since = mesh.parts.length;
    mesh.join(zone);
    while (mesh.step(zone));
    return mesh.parts.slice(since);
  };

  it('get the same parts of what they may both have, until it changes', () => {
    const mesh = new Mesh(8);
    fill(mesh);
    const first = readAll(mesh, 'north');
    expect(first).toHaveLength(4);
    const again = readAll(mesh, 'north');
    expect(again.map((part, n) => part === first[n])).toEqual([true, true, true, true]);
    // Of those of east, west gets the same; of its own none.
    expect(readAll(mesh, 'west').map((part) => first.indexOf(part))).toEqual([0, 1]);
    // Nothing is sent for the blocks that the zone gets nothing of.
    expect(mesh.idle).toBe(0);
    mesh.put(KIND, 's0', 'east', { ports, state: 'Unavailable' });
    expect(readAll(mesh, 'north').map((part) => first.indexOf(part))).toEqual([-1, 1, 2, 3]);
  });

  it('do not get what an export rule keeps from them, also in a block that they share with others', () => {
    const mesh = new Mesh(100);
    fill(mesh);
    mesh.put(KIND, 'secret', 'east', { ports, state: 'Available', export: { mode: 'Subset', zones: ['north'] } });
    const namesOf = (zone: string): boolean => {
      readAll(mesh, zone);
      return [...(mesh.zones.get(zone)?.holds.keys() ?? [])].some((name) => name.startsWith('secret-'));
    };
    expect(['north', 'south', 'north', 'east'].map(namesOf)).toEqual([true, false, true, false]);
  });

  it('get a block that is too large for a message in several, and each of its resources once', () => {
    const mesh = new Mesh(100);
    fill(mesh);
    const sizes = readAll(mesh, 'north').map((part) => part.size);
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(LIMITS.bytes);
    expect(mesh.zones.get('north')?.sent).toHaveLength(16);
  });

  it('tell how much is left', () => {
    const mesh = new Mesh(4);
    fill(mesh);
    mesh.join('north');
    const waiting: (number | undefined)[] = [];
    while (mesh.step('north')) waiting.push(mesh.zones.get('north')?.outbox.progress().get(KIND)?.waiting);
    expect(waiting).toEqual([12, 8, 4, 0]);
  });

  it('go on reading for themselves when nobody has read for a minute', () => {
    const mesh = new Mesh(4);
    fill(mesh);
    const [first] = readAll(mesh, 'north');
    mesh.join('north');
    mesh.step('north');
    mesh.time += 61_000;
    mesh.put(KIND, 's7', 'west', { ports, state: 'Unavailable' });
    mesh.step('north');
    mesh.put(KIND, 's3', 'west', { ports, state: 'Unavailable' });
    while (mesh.step('north'));
    expect(mesh.zones.get('north')?.holds).toEqual(mesh.visibleTo('north'));
    expect(readAll(mesh, 'north')[0]).not.toBe(first);
  });
});
