import {
  computedLabels,
  identityKey,
  ownZone,
  type ControlPlane,
  type JsonObject,
  type Labels,
  type Registry,
} from '@causeway/resources';
import type { Change } from '@causeway/store';
import type { WatchedDisk } from '../engine/watched-disk';
import type { UserAction } from './steps';

/** By this label a resource is kept out of sync. */
export const SYNC_LABEL = 'kuma.io/kds-sync';

/** The one mesh of a simulation. */
const MESH = 'default';

/** A control plane where users write. */
export interface Desk {
  readonly cp: ControlPlane;
  readonly disk: WatchedDisk;
  readonly registry: Registry;
}

/** The change that an action asks for, as admission makes it (docs/design.md §1). */
export function userChange(action: UserAction, desk: Desk): Change {
  switch (action.type) {
    case 'service': {
      const labels = { team: action.team, ...(action.hidden ? { [SYNC_LABEL]: 'disabled' } : {}) };
      const selector = { dataplaneTags: { 'kuma.io/service': action.name } };
      return put(
        desk,
        { kind: 'MeshService', name: action.name, labels },
        { selector, ports: [{ port: action.port }] },
      );
    }
    case 'dataplane': {
      const { port, ready, service } = action;
      const inbound = [{ port, tags: { 'kuma.io/service': service }, state: ready ? 'Ready' : 'NotReady' }];
      return put(desk, { kind: 'Dataplane', name: action.name }, { networking: { address: '10.1.1.1', inbound } });
    }
    case 'external': {
      const spec = { match: { port: action.port }, endpoints: [{ address: '10.2.2.2', port: action.port }] };
      return put(desk, { kind: 'MeshExternalService', name: action.name }, spec);
    }
    case 'multizone': {
      const selector = { meshService: { matchLabels: { team: action.team } } };
      return put(desk, { kind: 'MeshMultiZoneService', name: action.name }, { selector, ports: [{ port: 80 }] });
    }
    case 'generator': {
      const spec = { selector: { [action.selects]: {} }, template: action.template };
      return put(desk, { kind: 'HostnameGenerator', name: action.name }, spec);
    }
    case 'zone': {
      const lost = action.lost ? { lost: { ...action.lost } } : {};
      return put(desk, { kind: 'Zone', name: action.zone }, { ...(action.enabled ? {} : { enabled: false }), ...lost });
    }
    case 'mesh':
      return action.exists ? meshChange(desk) : { type: 'delete', id: idOf(desk, 'Mesh', MESH), expect: 'any' };
    case 'remove':
      return { type: 'delete', id: idOf(desk, action.kind, action.name), expect: 'any' };
  }
}

/** The mesh, which everything else is in. */
export function meshChange(desk: Desk): Change {
  return put(desk, { kind: 'Mesh', name: MESH }, {});
}

interface Named {
  readonly kind: string;
  readonly name: string;
  readonly labels?: Labels;
}

function put(desk: Desk, { kind: kindName, name, labels = {} }: Named, spec: JsonObject): Change {
  const id = idOf(desk, kindName, name);
  const kind = kindOf(desk, kindName);
  const stored = desk.disk.rows.get(identityKey(id));
  const state = stored?.deletedAt === undefined ? stored?.spec['state'] : undefined;
  return {
    type: 'put',
    id,
    expect: 'any',
    labels: { ...labels, ...computedLabels(kind, id, desk.cp) },
    spec: state === undefined ? spec : { ...spec, state },
  };
}

function idOf(desk: Desk, kindName: string, name: string): Change['id'] {
  const kind = kindOf(desk, kindName);
  return {
    kind: kindName,
    mesh: kind.scope === 'mesh' ? MESH : '',
    zone: kind.sync.zoneInIdentity ? ownZone(desk.cp) : '',
    namespace: kind.namespaced ? 'default' : '',
    name,
  };
}

function kindOf({ registry }: Desk, name: string): NonNullable<ReturnType<Registry['kind']>> {
  const kind = registry.kind(name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}
