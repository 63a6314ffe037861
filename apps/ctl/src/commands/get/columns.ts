import type { JsonObject, Kind } from '@causeway/resources';
import { listAt, objectAt, textAt } from '../../render';

/** One column of a kind's table. */
export interface Column {
  readonly title: string;
  readonly cell: (item: JsonObject) => string;
}

const name: Column = { title: 'NAME', cell: (item) => textAt(item, 'name') };
const mesh: Column = { title: 'MESH', cell: (item) => textAt(item, 'mesh') };
const namespace: Column = { title: 'NAMESPACE', cell: (item) => textAt(item, 'namespace') || 'default' };
const zone: Column = { title: 'ZONE', cell: (item) => textAt(item, 'labels', 'kuma.io/zone') };

const ports = (item: JsonObject): string =>
  listAt(objectAt(item, 'spec'), 'ports')
    .map((port) => `${textAt(port, 'port')}/${textAt(port, 'appProtocol') || 'tcp'}`)
    .join(',');

const hostnames = (item: JsonObject): string =>
  listAt(objectAt(item, 'status'), 'addresses')
    .filter((address) => textAt(address, 'status') === 'Available')
    .map((address) => textAt(address, 'hostname'))
    .join(',');

/** Why a service gets no address; empty while it is waiting for one. */
export function missingVip(item: JsonObject): string {
  const conditions = listAt(objectAt(item, 'status'), 'conditions');
  const denied = conditions.some(
    (each) => textAt(each, 'type') === 'VIPAllocated' && textAt(each, 'status') === 'False',
  );
  return denied ? '(range is full)' : '';
}

const serviceColumns: readonly Column[] = [
  { title: 'STATE', cell: (item) => textAt(item, 'spec', 'state') },
  { title: 'PORTS', cell: ports },
  { title: 'VIP', cell: (item) => textAt(item, 'status', 'vip', 'ip') || missingVip(item) },
  { title: 'HOSTNAMES', cell: hostnames },
];

const special: Readonly<Record<string, readonly Column[]>> = {
  MeshService: serviceColumns,
  MeshMultiZoneService: serviceColumns.slice(1),
  MeshExternalService: serviceColumns.slice(2),
  HostnameGenerator: [{ title: 'TEMPLATE', cell: (item) => textAt(item, 'spec', 'template') }],
  Dataplane: [{ title: 'ADDRESS', cell: (item) => textAt(item, 'spec', 'networking', 'address') }],
  Zone: [{ title: 'ENABLED', cell: (item) => textAt(item, 'spec', 'enabled') || 'true' }],
};

/** The columns of a kind: its identity, then its most important fields. */
export function columnsOf(kind: Kind): readonly Column[] {
  return [
    ...(kind.scope === 'mesh' ? [mesh] : []),
    ...(kind.sync.zoneInIdentity ? [zone] : []),
    ...(kind.namespaced ? [namespace] : []),
    name,
    ...(special[kind.name] ?? []),
  ];
}
