import type { WorkloadBinding } from '@causeway/identity';
import {
  checkLabels,
  checkName,
  FieldPath,
  isJsonObject,
  Label,
  type JsonObject,
  type Violation,
} from '@causeway/resources';
import type { TokenDefinition, TokenRequest } from '../tokens/token-definition';
import { TokenFamily } from '../tokens/token-family';
import type { IssuedToken, TokenDependencies } from '../tokens/token-issuer';
import { parseValidity, validityViolations } from '../tokens/validity';
import {
  dataplanePayload,
  decodeDataplaneClaims,
  MAX_MACHINES,
  MAX_TAG_VALUES,
  MAX_TAGS,
  MAX_TOKEN_SERVICES,
  type DataplaneClaims,
} from './dataplane-token';

/** Default maximum of simultaneous machines of a group. */
const DEFAULT_MACHINES = 100;

/**
 * A request for a dataplane token: the Dataplanes of the mesh for which it is valid, and the services that they may serve. It names one Dataplane, or
 * a workload and services for a group of hosts. Defaults: namespace `default`, and the services named like the Dataplane or its workload.
 */
export interface DataplaneTokenRequest extends WorkloadBinding, TokenRequest {
  readonly mesh: string;
  /** Form of Kuma: claims that are left out restrict nothing. Only if the operator of the mesh admits such tokens. */
  readonly isKuma?: boolean;
}

/** Facts that are returned with a dataplane token. */
interface DataplaneTokenAnswer {
  readonly mesh: string;
}

/**
 * Tokens that prove which Dataplanes a proxy may be (docs/reference/kuma-rest.md §5.5). Kuma writes every claim, empty
 * ones too; the claim "Mesh" distinguishes them from tokens of other uses.
 */
export const DATAPLANE_TOKEN: TokenDefinition<DataplaneTokenRequest, DataplaneTokenAnswer, DataplaneClaims> = {
  name: 'dataplane token',
  claim: 'Mesh',
  signingKey: 'dataplane-token-signing-key',
  revocations: 'dataplane-token-revocations',
  records: 'dataplane-tokens',
  validFor: '720h',
  // The leader makes the first key a moment after its term begins; earlier requests need not wait for it.
  makesFirstKey: true,
  violations: (request) => [
    ...dataplaneTokenViolations(request),
    ...(request.isKuma === true ? [] : grantViolations(request)),
  ],
  order: (request) => {
    const claims = dataplanePayload(request.isKuma === true ? request : toGrant(request));
    return { claims, facts: readFacts(claims), answer: { mesh: request.mesh } };
  },
  decode: decodeDataplaneClaims,
};

/** A new dataplane token. It is returned once and stored nowhere. */
export type IssuedDataplaneToken = IssuedToken & DataplaneTokenAnswer;

/** Dataplane tokens of one zone at one replica; its keys are GlobalSecrets of the zone, which are never synced. */
export type DataplaneTokens = TokenFamily<DataplaneTokenRequest, DataplaneTokenAnswer, DataplaneClaims>;

/** Creates them. */
export function createDataplaneTokens(dependencies: TokenDependencies): DataplaneTokens {
  return new TokenFamily(DATAPLANE_TOKEN, dependencies);
}

/** Returns the grant of a request that names a Dataplane, or a workload and services. */
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

/** Returns the missing fields of a request: a credential without a subject would be valid for everybody. */
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

/** Returns the claims in the form of lists: `{mesh, namespace, name, services, tags, workload, machines}`. */
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
