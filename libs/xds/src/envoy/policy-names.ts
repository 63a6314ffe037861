import { MeshService } from '@causeway/kinds';
import { identityKey } from '@causeway/resources';
import { callersKinds, serversKinds } from '../policies/backend-policies';
import { ruleKinds } from '../policies/effective-rules';
import type { PolicyChange } from '../policies/policy-source';
import { serverListeners } from '../grpc/grpc-translation';
import { ChangedNames } from './changed-names';
import { servedInbounds } from './dataplane/inbound';
import type { TrafficTables } from './traffic-tables';

/** Ports of services whose names are told in one step. */
const AT_ONCE = 64;

/** Names of resources that may differ; `group`: those of one Dataplane alone. */
export interface NamesToTell {
  readonly changed: ChangedNames;
  readonly group?: string;
}

/**
 * The names of the resources that other policies make others, some ports at a time. Policies on rules: the routes of a service's
 * ports, the listeners of gRPC channels to them; on backends: clusters, endpoints, and the routes that lead there; on what instances
 * take: their inbounds. Linear in the change, and in the instances of the latter.
 */
export function* policyNames(change: PolicyChange, tables: () => TrafficTables): Generator<NamesToTell> {
  const { rules, backends, meshes } = change;
  const wide = (kinds: ReadonlySet<string>): ReadonlySet<string> =>
    new Set(meshes.flatMap(({ kind, mesh }) => (kinds.has(kind) ? [mesh] : [])));
  const of = (kinds: ReadonlySet<string>): readonly string[] =>
    backends.flatMap(({ kind, service }) => (kinds.has(kind) ? [service] : []));
  const frontends = rules.flatMap(({ kind, frontend }) => (ruleKinds.has(kind) ? [frontend] : []));
  yield* someAtOnce(destinations(frontends, wide(ruleKinds), tables), (name, changed) => {
    changed.addPolicies(tables().model.destination(name));
  });
  yield* someAtOnce(destinations(of(callersKinds), wide(callersKinds), tables), (name, changed) => {
    const { model, routes } = tables();
    changed.addBackendPolicies(model.destination(name));
    for (const hashed of routes.hashedFor(name)) changed.addPolicies(model.destination(hashed));
  });
  const servers = wide(serversKinds);
  const { index, model } = tables();
  const inMeshes = servers.size === 0 ? [] : instancesOf(servers, index, model.zone);
  for (const service of new Set([...of(serversKinds), ...inMeshes])) yield* inboundsOf(service, tables());
}

/** The names of the ports of some services, and of all services of some meshes; of a mesh those that it has at the first step. */
function* destinations(
  services: readonly string[],
  meshes: ReadonlySet<string>,
  tables: () => TrafficTables,
): Generator<string> {
  for (const service of new Set(services)) yield* tables().model.namesOfService(service);
  if (meshes.size === 0) return;
  for (const { name, service } of [...tables().model.destinations()]) if (meshes.has(service.mesh)) yield name;
}

/** The services of a zone in some meshes, by identity key. */
function* instancesOf(meshes: ReadonlySet<string>, index: TrafficTables['index'], zone: string): Generator<string> {
  for (const { id } of index.ofKind(MeshService.name))
    if (id.zone === zone && meshes.has(id.mesh)) yield identityKey(id);
}

function* someAtOnce(
  names: Iterable<string>,
  add: (name: string, changed: ChangedNames) => void,
): Generator<NamesToTell> {
  let changed = new ChangedNames();
  let count = 0;
  for (const name of names) {
    add(name, changed);
    count += 1;
    if (count % AT_ONCE > 0) continue;
    yield { changed };
    changed = new ChangedNames();
  }
  if (count % AT_ONCE > 0) yield { changed };
}

/** The inbounds of the instances of a service of this zone. */
function* inboundsOf(service: string, { index, model }: TrafficTables): Generator<NamesToTell> {
  const resource = index.byIdentityKey(service);
  if (!resource) return;
  for (const dataplane of model.dataplanesOf(resource)) {
    const changed = new ChangedNames();
    changed.addInboundPolicies(servedInbounds(dataplane).all, serverListeners(dataplane));
    yield { changed, group: identityKey(dataplane.id) };
  }
}
