import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { DeltaDiscoveryResponse, KumaResource, StateMark } from '@causeway/proto-gen';
import { identityKey, type StorePoint } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type {
  Change,
  ChangeBatch,
  PutChange,
  Snapshot,
  WriteRequest,
  WriteResult,
  ResourceIndex,
} from '@causeway/store';
import { RESOURCE_TYPES, type SourceListener } from '@causeway/xds-server';
import type { EnvoyView } from '@causeway/xds-translation';
import type { NetworkFaults } from '../engine/network';
import type { WatchedDisk } from '../engine/watched-disk';
import type { Faults } from '../mesh/world';

/** An injected bug. It is in the simulation's wiring, never in the engine. */
export interface KnownFault {
  readonly name: string;
  readonly what: string;
  /** A schedule that shows it: the search of a test starts there. */
  readonly seed: number;
  readonly faults: Faults;
}

/** The bugs that the simulation must find (test/simulation/README.md has how often it does). */
export const KNOWN_FAULTS: readonly KnownFault[] = [
  {
    name: 'no-fence',
    what: 'the store does not ask whether the leader that writes still leads',
    seed: 18,
    faults: { store: { write: withoutFence } },
  },
  {
    name: 'no-session',
    what: 'the store does not ask whether the session that writes still stands for its zone',
    seed: 3,
    faults: { store: { write: ({ session: _session, ...request }) => request } },
  },
  {
    name: 'absence-deletes',
    what: 'what is missing in a state that holds only changes is taken for deleted',
    seed: 1,
    faults: { network: { message: remarked({ more: false, resumed: false }) } },
  },
  {
    name: 'life-unseen',
    what: 'a store that was set back is taken for the one it was: what it lacks is deleted',
    seed: 83,
    faults: { network: { message: remarked({ incarnation: 'always' }) } },
  },
  {
    name: 'lagging-replica',
    what: 'a replica answers before it has caught up with the store',
    seed: 14,
    faults: { store: { view: alwaysCaughtUp, lag: 1_500 } },
  },
  {
    name: 'early-ack',
    what: 'what a peer sends is acknowledged before it is stored',
    seed: 4,
    faults: { store: { answerEarly } },
  },
  {
    name: 'uncommitted',
    what: 'what a process writes is in its index before it is committed: peers and DNS have it though the commit fails',
    seed: 1,
    faults: { store: { showsUncommitted: true } },
  },
  {
    name: 'arrival-order',
    what: 'precedence by the order of arrival in each zone',
    seed: 24,
    faults: { store: { write: (request, disk) => changed(request, (change) => asItArrives(change, disk)) } },
  },
  {
    name: 'forged-age',
    what: 'zones say of all that they make that it was made in 1970, and the global believes them',
    seed: 1,
    faults: { network: { message: forgedAge }, store: { write: withoutCounting } },
  },
  {
    name: 'rest-in-memory',
    what: 'which addresses rest is remembered by the process only',
    seed: 1,
    faults: { store: { snapshot: withoutFreed, batch: freedByDeletion } },
  },
  {
    name: 'keeper-unfenced',
    what: "the global's leader keeps zones in order without asking whether its term still stands",
    seed: 53,
    faults: { store: { write: (request) => (isOfKeeper(request) ? withoutFence(request) : request) } },
  },
  {
    name: 'lost-early',
    what: 'the time after which a zone counts as lost is measured by a clock that runs too fast',
    seed: 1,
    faults: { keeper: (options) => ({ ...options, clock: twiceAsFast(options.clock) }) },
  },
  {
    name: 'unannounced-endpoints',
    what: 'proxies are not told that the endpoints of a service are others',
    seed: 2,
    faults: { proxies: withoutEndpoints },
  },
];

/** Whether the keeper of zones writes it: that a zone is lost or back, and the remains of a deleted one. */
function isOfKeeper({ fence, session, changes }: WriteRequest): boolean {
  return fence !== undefined && (session !== undefined || changes.some(({ id }) => id.kind === 'Zone'));
}

function withoutFence({ fence: _fence, ...request }: WriteRequest): WriteRequest {
  return request;
}

function twiceAsFast(clock: Clock): Clock {
  return Object.create(clock, { elapsed: { value: () => 2 * clock.elapsed() } });
}

/** Returns messages of zones with the age of the first microsecond. */
export function forgedAge(bytes: Buffer, direction: 'up' | 'down', to: 'zone' | 'global'): Buffer {
  if (direction !== 'up' || to !== 'global') return bytes;
  const message = DeltaDiscoveryResponse.decode(bytes);
  const resources = message.resources.map((entry) => {
    const { meta, ...content } = KumaResource.decode(entry.resource?.value ?? Buffer.alloc(0));
    if (!entry.resource || !meta?.causeway) return entry;
    const forged = { ...content, meta: { ...meta, causeway: { ...meta.causeway, creationOrder: 1 } } };
    return { ...entry, resource: { ...entry.resource, value: Buffer.from(KumaResource.encode(forged).finish()) } };
  });
  return Buffer.from(DeltaDiscoveryResponse.encode({ ...message, resources }).finish());
}

function withoutCounting({ changes, ...request }: WriteRequest): WriteRequest {
  const believed = changes.map((change): Change => {
    if (change.type !== 'put') return change;
    const { orderFrom: _orderFrom, ...put } = change;
    return put;
  });
  return { ...request, changes: believed };
}

const MARK_TAG = 802;

/** Rewrites the marks of messages about the state that they belong to. */
function remarked(changes: Partial<StateMark>): NonNullable<NetworkFaults['message']> {
  return (bytes, direction, to) => {
    const isResponse = direction === 'down' ? to === 'zone' : to === 'global';
    const message = isResponse ? DeltaDiscoveryResponse.decode(bytes) : undefined;
    const stored = message?._unknownFields?.[MARK_TAG]?.at(-1);
    if (!message || !stored) return bytes;
    const mark = { ...StateMark.decode(new BinaryReader(stored).bytes()), ...changes };
    const field = new BinaryWriter().bytes(StateMark.encode(mark).finish()).finish();
    const fields = { ...message._unknownFields, [MARK_TAG]: [field] };
    return Buffer.from(DeltaDiscoveryResponse.encode({ ...message, _unknownFields: fields }).finish());
  };
}

function answerEarly({ changes }: WriteRequest, disk: WatchedDisk): WriteResult | undefined {
  if (!changes.some(isCopy)) return undefined;
  const { revision } = disk;
  return { revision, results: changes.map(() => ({ type: 'unchanged', revision, generation: 1, uid: '' })) };
}

function changed(request: WriteRequest, change: (put: CopyPut) => CopyPut): WriteRequest {
  return { ...request, changes: request.changes.map((each) => (isCopy(each) ? change(each) : each)) };
}

type CopyPut = PutChange & { readonly copy: NonNullable<PutChange['copy']> };

function isCopy(change: Change): change is CopyPut {
  return change.type === 'put' && change.copy !== undefined;
}

function asItArrives(put: CopyPut, disk: WatchedDisk): CopyPut {
  const held = disk.rows.get(identityKey(put.id));
  const arrived = Math.max(disk.clock.now() * 1_000, disk.newest.order) + 1;
  const creationOrder = held?.deletedAt === undefined ? (held?.creationOrder ?? arrived) : arrived;
  return { ...put, copy: { ...put.copy, creationOrder } };
}

function withoutFreed({ point, resources, tombstones }: Snapshot): Snapshot {
  return {
    point,
    resources: resources.map((resource) => ({ ...resource, freed: [] })),
    tombstones: tombstones.map((stone) => ({ ...stone, freed: [] })),
  };
}

/** The index as it is, with the point that it should have reached. */
function alwaysCaughtUp(index: ResourceIndex, disk: WatchedDisk): ResourceIndex {
  const point = (): StorePoint => ({ incarnation: disk.incarnation, revision: disk.revision });
  return Object.create(index, { point: { get: point } });
}

/** Only who saw the deletion knows. */
function freedByDeletion({ revision, changes }: ChangeBatch): ChangeBatch {
  return {
    revision,
    changes: changes.map((change) =>
      change.type === 'put' ? { ...change, resource: { ...change.resource, freed: [] } } : change,
    ),
  };
}

function withoutEndpoints(listener: SourceListener<EnvoyView>): SourceListener<EnvoyView> {
  return {
    ...listener,
    changed: (change) => {
      if (change.type !== RESOURCE_TYPES.endpoints) listener.changed(change);
    },
  };
}
