import { MeshService, servicePorts } from '@causeway/kinds';
import type { InboundAccess } from '@causeway/policies';
import { identityKey, type Identity } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { isHttp } from '../messages/clusters';
import { servedInbounds } from '../dataplane/inbound';
import { isTargeted } from '../model/destination';
import type { InboundRules, ServicePortRef } from '../access/inbound-rules';
import type { AccessTable } from '../access/inbound-access';
import type { Selecting } from '../access/inbound-services';

/** An inbound behind a port of a service, and the rules about its callers. */
export interface EvaluatedInstance extends Omit<InboundAccess, 'seesRequests'> {
  readonly dataplane: Identity;
  /** Whether the inbound is HTTP; its proxy may be one that sees connections only. */
  readonly isHttp: boolean;
  /** For each of `rules`: the ports of services to which it belongs. */
  readonly behind: readonly (readonly ServicePortRef[])[];
}

interface EvaluatedModel extends Selecting {
  readonly index: Pick<IndexReader, 'byIdentityKey'>;
  readonly access: Pick<AccessTable, 'ofInbound' | 'isPlaintext'>;
  readonly rules: Pick<InboundRules, 'behind' | 'callers'>;
}

/** Maximum number of instances of a port that are evaluated: instances differ by their other services and by modes only. */
const MAX_INSTANCES = 256;

/**
 * Returns the instances in this zone behind a port of a service of this zone, with the access rules of their inbounds; `pending` while access to the
 * mesh is unknown. At most the first 256. Linear in the instances and the services that select them.
 */
export function evaluateInstances(
  model: EvaluatedModel,
  { service, port }: ServicePortRef,
): readonly EvaluatedInstance[] | 'pending' {
  const resource = model.index.byIdentityKey(identityKey(service));
  if (!resource || !MeshService.is(resource) || service.zone !== model.zone) return [];
  const target = servicePorts(resource).find(({ number }) => number === port)?.target;
  const found: EvaluatedInstance[] = [];
  for (const dataplane of target === undefined ? [] : model.listDataplanes(resource)) {
    for (const inbound of servedInbounds(dataplane).all) {
      if (target === undefined || !isTargeted(dataplane, target, inbound.at.port)) continue;
      const access = model.access.ofInbound(dataplane, inbound.at.port);
      if (access === 'pending') return access;
      const { rules, callers, revoked } = access;
      // Clients speak plaintext to instances that have not acknowledged TLS yet.
      const mtls = model.access.isPlaintext(dataplane, inbound.at.port) ? 'Off' : access.mtls;
      const behind = rules.map((each) => model.rules.behind(dataplane, inbound.at.port, each));
      found.push({ mtls, rules, callers, revoked, behind, dataplane: dataplane.id, isHttp: isHttp(inbound) });
    }
    if (found.length >= MAX_INSTANCES) break;
  }
  return found;
}

/** Returns the SPIFFE ids of a Dataplane of this zone; empty where it has no identity, undefined where it does not exist. */
export function idsOfDataplane({ index, rules }: EvaluatedModel, id: Identity): readonly string[] | undefined {
  const dataplane = index.byIdentityKey(identityKey(id));
  return dataplane && rules.callers.listIds(dataplane);
}
