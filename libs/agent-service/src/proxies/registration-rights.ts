import type { AccessPolicy, Caller } from '@causeway/access';
import type { DataplaneResource } from '@causeway/dataplanes';
import { Dataplane } from '@causeway/kinds';
import { Forbidden, Invalid, type FieldPath, type Identity, type JsonObject, type Labels } from '@causeway/resources';
import { dataplaneProxyId } from './proxy-views';

/** Rights with which a registration is written. */
export type RegistrationRights = Pick<AccessPolicy, 'authorise' | 'may'>;

/** Dataplane to be written. */
export interface DraftDataplane {
  readonly id: Identity;
  readonly labels: Labels;
  readonly spec: JsonObject;
}

const NOT_STORED = {
  uid: '',
  generation: 0,
  creationOrder: 0,
  createdAt: 0,
  modifiedAt: 0,
  revision: 0,
  freed: [],
  origin: { incarnation: '', revision: 0, committedAt: 0 },
};

/** Returns the draft as a resource. Throws Invalid with violations of its spec, at `at`. */
export function validateDraft(draft: DraftDataplane, at: FieldPath): DataplaneResource {
  const { first } = Dataplane.check(draft.spec, at);
  if (first.length > 0) throw new Invalid(first);
  const resource = { ...NOT_STORED, ...draft };
  if (!Dataplane.is(resource)) throw new Invalid([at.violation('must be a Dataplane')]);
  return resource;
}

/** Returns the right to write this Dataplane only; the caller has verified the credentials. */
export function createRegistrationRights({ mesh, namespace, name }: Identity): RegistrationRights {
  const may = (id: Identity): boolean =>
    id.kind === Dataplane.name && id.mesh === mesh && id.namespace === namespace && id.name === name;
  return {
    may: (_, __, id) => may(id),
    authorise: (_, __, id) => {
      if (!may(id)) throw new Forbidden(`the dataplane token lets its proxy write Dataplane ${name} only`);
    },
  };
}

/** Returns the caller that registers a Dataplane, for rights and the audit log. */
export function registrationContext(of: {
  readonly mesh: string;
  readonly namespace: string;
  readonly name: string;
  readonly tokenId: string;
  readonly until: number;
  /** Remote address of the proxy or agent. */
  readonly address: string;
  /** Whether the writer holds the lease of the Dataplane. */
  readonly holdsLease?: boolean;
}) {
  const user = `dataplane-token:${dataplaneProxyId(of)}`;
  const caller: Caller = { user, groups: [], by: 'dataplane-token', tokenId: of.tokenId, until: of.until };
  const origin = { address: of.address, via: 'gRPC' as const, userAgent: undefined };
  return { caller, origin, ...(of.holdsLease === true && { holdsLease: true }) };
}
