import type { WorkloadBinding } from '@causeway/identity';
import {
  checkLabels,
  checkName,
  FieldPath,
  Invalid,
  isJsonObject,
  Label,
  ownZone,
  type Identity,
  type JsonObject,
  type Violation,
} from '@causeway/resources';
import { isOwnGlobalSecret } from '../global-secrets';
import { signingKeySerial } from '../tokens/signing-keys';
import { PresentedTokens } from '../tokens/presented-tokens';
import { TokenIssuer, type IssuedToken, type TokenDependencies } from '../tokens/token-issuer';
import { TokenTrust } from '../tokens/token-trust';
import { DATAPLANE_TOKEN } from '../tokens/token-use';
import { parseValidity, validityViolations } from '../tokens/validity';
import {
  dataplanePayload,
  MAX_MACHINES,
  MAX_TAG_VALUES,
  MAX_TAGS,
  MAX_TOKEN_SERVICES,
  verifyDataplaneToken,
  type DataplaneClaims,
} from './dataplane-token';

/** Default validity of a dataplane token: 30 days. */
const DATAPLANE_TOKEN_VALIDITY = '720h';

/** Default maximum of simultaneous machines of a group. */
const DEFAULT_MACHINES = 100;

/**
 * Request for a dataplane token: the Dataplanes of the mesh for which it is valid, and the services that they may
 * serve. It names one Dataplane, or a workload and services for a group of machines. Defaults: namespace `default`, and
 * the services named like the Dataplane or its workload.
 */
export interface DataplaneTokenRequest extends WorkloadBinding {
  readonly mesh: string;
  /** Form of Kuma: claims that are left out restrict nothing. Only if the operator of the mesh admits such tokens. */
  readonly isKuma?: boolean;
  /** A duration such as `720h` or `30d`; `DATAPLANE_TOKEN_VALIDITY` by default. */
  readonly validFor?: string;
  /** The user who asks for it. */
  readonly issuedBy?: string;
}

/** Dataplane tokens of one zone at one replica; its keys are GlobalSecrets of the zone, which are never synced. */
export interface DataplaneTokens {
  readonly tokens: DataplaneTokenIssuer;
  /** The claims of a token that is valid now. Throws Unauthenticated with the reason. */
  verify(token: string): Promise<DataplaneClaims>;
  /** Returns how many tokens that were presented to this replica expire soon (`PresentedTokens`). */
  expiring(): number;
  /** Calls `listener` when a token may have become invalid, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Returns warnings for the operator who deletes this resource: which tokens end because their key is deleted. */
  deletionWarnings(id: Identity): readonly string[];
  /** Secrets named like signing keys that hold none, with the reason. */
  faults(): readonly string[];
  close(): void;
}

/** Creates them. The store may have no signing key yet: `tokens.ensureKey` makes it. */
export function createDataplaneTokens(dependencies: TokenDependencies): DataplaneTokens {
  const { cp, clock } = dependencies;
  const trust = new TokenTrust({ ...dependencies, use: DATAPLANE_TOKEN, zone: ownZone(cp) });
  const presented = new PresentedTokens(clock);
  return {
    tokens: new DataplaneTokenIssuer(dependencies, trust),
    verify: async (token) => {
      const claims = await verifyDataplaneToken(token, trust.trustedKeys, clock.now());
      presented.note(token);
      return claims;
    },
    expiring: () => presented.expiring(),
    onChange: (listener) => trust.onChange(listener),
    deletionWarnings: (id) => {
      const serial = isOwnGlobalSecret(id, ownZone(cp)) ? signingKeySerial(DATAPLANE_TOKEN, id.name) : undefined;
      return serial === undefined ? [] : [`dataplane tokens signed with key ${serial} are valid no longer without it`];
    },
    faults: () => trust.faults,
    close: () => trust.close(),
  };
}

/** Issues the dataplane tokens of a zone. */
class DataplaneTokenIssuer extends TokenIssuer {
  constructor(dependencies: TokenDependencies, trust: TokenTrust) {
    super(dependencies, trust, DATAPLANE_TOKEN);
  }

  /** Issues a token, signed with the newest key. Throws Invalid, and what `issueToken` throws. */
  async issue(request: DataplaneTokenRequest): Promise<IssuedToken> {
    const { validFor = DATAPLANE_TOKEN_VALIDITY, issuedBy = '', isKuma = false } = request;
    const validity = parseValidity(validFor);
    const violations = [
      ...dataplaneTokenViolations({ ...request, validFor }),
      ...(isKuma ? [] : grantViolations(request)),
    ];
    if (violations.length > 0 || !validity.ok) throw new Invalid(violations);
    const claims = dataplanePayload(isKuma ? request : toGrant(request));
    // // The leader makes the first key a moment after its term begins; earlier requests need not wait for it.
    await this.ensureKey();
    return this.issueToken({ claims, facts: readFacts(claims), validity: validity.ms, issuedBy });
  }
}

/** Returns what a request grants that names a Dataplane, or a workload and services. */
function toGrant(request: DataplaneTokenRequest): WorkloadBinding & { readonly mesh: string } {
  const { mesh, name, namespace = 'default', tags, workload, services, machines = DEFAULT_MACHINES } = request;
  return {
    mesh,
    namespace,
    ...(name === undefined ? { machines } : { name }),
    ...(tags === undefined ? {} : { tags }),
    ...(workload === undefined ? {} : { workload }),
    services: services ?? tags?.[Label.service] ?? ownServices(name, workload),
  };
}

/** Returns the services of a Dataplane that is granted none by name: those named like itself. */
function ownServices(name: string | undefined, workload: string | undefined): readonly string[] {
  if (name === undefined) return [];
  return workload === undefined || workload === name ? [name] : [name, workload];
}

/** Returns the missing fields of a request: a credential that names nobody would be valid for everybody. */
function grantViolations({ name, workload, services, tags, machines }: DataplaneTokenRequest): readonly Violation[] {
  if (name !== undefined) {
    const reason = 'is for a group of machines, which a token with a name is not for; leave one out';
    return machines === undefined ? [] : [FieldPath.at('machines').violation(reason)];
  }
  if (workload === undefined) {
    const reason = 'must be the Dataplane that joins with it; for a group of equal machines give workload and services';
    return [FieldPath.at('name').violation(reason, 'required')];
  }
  if ((services ?? tags?.[Label.service] ?? []).length > 0) return [];
  return [
    FieldPath.at('services').violation('must name what the machines of the workload serve, at least one', 'required'),
  ];
}

/** Returns the violations of the given fields of a request. */
export function dataplaneTokenViolations(given: Partial<DataplaneTokenRequest>): readonly Violation[] {
  const { mesh, name, workload, tags = {}, validFor, namespace, services = [], machines } = given;
  return [
    ...(mesh === undefined ? [] : checkName(mesh, FieldPath.at('mesh'))),
    ...(name === undefined ? [] : checkName(name, FieldPath.at('name'))),
    ...(workload === undefined ? [] : workloadViolations(workload)),
    ...tagViolations(tags),
    ...(namespace === undefined ? [] : checkName(namespace, FieldPath.at('namespace'))),
    ...serviceViolations(services),
    ...(machines === undefined || (Number.isInteger(machines) && machines > 0 && machines <= MAX_MACHINES)
      ? []
      : [FieldPath.at('machines').violation(`must be from 1 to ${MAX_MACHINES}; got ${machines}`, 'out-of-range')]),
    ...(validFor === undefined ? [] : validityViolations(parseValidity(validFor))),
  ];
}

/** Returns the claims as lists show them: `{mesh, namespace, name, services, tags, workload, machines}`. */
function readFacts({ Mesh, Name, Tags, Workload, Namespace, Services, Machines }: JsonObject): JsonObject {
  return {
    ...(typeof Mesh === 'string' ? { mesh: Mesh } : {}),
    ...(typeof Name === 'string' ? { name: Name } : {}),
    ...(isJsonObject(Tags) ? { tags: Tags } : {}),
    ...(typeof Workload === 'string' ? { workload: Workload } : {}),
    ...(typeof Namespace === 'string' ? { namespace: Namespace } : {}),
    ...(Services === undefined ? {} : { services: Services }),
    ...(Machines === undefined ? {} : { machines: Machines }),
  };
}

function serviceViolations(services: readonly string[]): readonly Violation[] {
  const at = FieldPath.at('services');
  if (services.length > MAX_TOKEN_SERVICES)
    return [at.violation(`must not be more than ${MAX_TOKEN_SERVICES}, are ${services.length}`, 'too-many')];
  return services.flatMap((service, i) => checkName(service, at.index(i)));
}

function workloadViolations(workload: string): readonly Violation[] {
  const at = FieldPath.at('workload');
  if (workload === '') return [at.violation('must not be empty', 'required')];
  const [bad] = checkLabels({ [Label.workload]: workload }, at);
  return bad ? [at.violation(bad.reason, bad.rule)] : [];
}

function tagViolations(tags: NonNullable<WorkloadBinding['tags']>): readonly Violation[] {
  const at = FieldPath.at('tags');
  const entries = Object.entries(tags);
  if (entries.length > MAX_TAGS)
    return [at.violation(`must not have more than ${MAX_TAGS} tags, has ${entries.length}`, 'too-many')];
  return entries.flatMap(([tag, values]) => {
    if (values.length === 0 || values.length > MAX_TAG_VALUES)
      return [at.field(tag).violation(`must have 1 to ${MAX_TAG_VALUES} values, has ${values.length}`, 'out-of-range')];
    return values.flatMap((value) => checkLabels({ [tag]: value }, at));
  });
}
