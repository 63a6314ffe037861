import { identityKey } from '@causeway/resources';
import { callersKinds, serversKinds } from '../policies/backend-policies';
import { ruleKinds } from '../policies/effective-rules';
import type { PolicyChange } from '../policies/policy-source';
import { isExternal } from '../model/services';
import { serverListeners } from '../grpc/grpc-translation';
import { ChangedNames } from './changed-names';
import { servedInbounds } from './dataplane/inbound';
import type { TrafficTables } from './traffic-tables';

/** Services whose names are told in one step. */
const AT_ONCE = 64;

/** Names of resources that may differ; `group`: those of one Dataplane alone. */
export interface NamesToTell {
  readonly changed: ChangedNames;
  readonly group?: string;
}

/**
 * The names of the resources that other policies make others, some services at a time. Policies on rules: the routes of a service's
 * ports, the listeners of gRPC channels to them; on backends: clusters, endpoints, and the routes that lead there; on what instances
 * take: their inbounds, and the egress before services outside the mesh. Linear in the change, and in the instances of the latter.
 */
export function* policyNames({ rules, backends }: PolicyChange, tables: () => TrafficTables): Generator<NamesToTell> {
  const of = (kinds: ReadonlySet<string>): readonly string[] => [
    ...new Set(backends.flatMap(({ kind, service }) => (kinds.has(kind) ? [service] : []))),
  ];
  const frontends = new Set(rules.flatMap(({ kind, frontend }) => (ruleKinds.has(kind) ? [frontend] : [])));
  yield* someAtOnce(frontends, (frontend, changed) => {
    const { model } = tables();
    for (const name of model.namesOfService(frontend)) changed.addPolicies(model.destination(name));
  });
  yield* someAtOnce(of(callersKinds), (service, changed) => {
    const { model, routes } = tables();
    for (const name of model.namesOfService(service)) {
      changed.addBackendPolicies(model.destination(name));
      for (const hashed of routes.hashedFor(name)) changed.addPolicies(model.destination(hashed));
    }
  });
  const served = of(serversKinds);
  yield* someAtOnce(served.filter(isExternal), (service, changed) => {
    const { model } = tables();
    const destinations = model.namesOfService(service).map((name) => model.destination(name));
    changed.addEgressPolicies(destinations, model.egress.listening);
  });
  for (const service of served) if (!isExternal(service)) yield* inboundsOf(service, tables());
}

function* someAtOnce(
  services: Iterable<string>,
  add: (service: string, changed: ChangedNames) => void,
): Generator<NamesToTell> {
  let changed = new ChangedNames();
  let count = 0;
  for (const service of services) {
    add(service, changed);
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
