import type { WorkloadBinding } from '@causeway/identity';
import { isJsonObject, type JsonObject } from '@causeway/resources';
import { Unauthenticated } from '../unauthenticated';
import { BACKDATED, isTextList } from '../tokens/signed-token';
import type { TokenFacts, VerifiedToken } from '../tokens/token-definition';

/** The type of proxies that are Dataplanes; Kuma's `ingress` and `egress` show zone tokens. */
const TYPE = 'dataplane';
/** Maximum number of tags of one token, and of values of one tag. */
export const MAX_TAGS = 32;
export const MAX_TAG_VALUES = 64;
/** Maximum number of services of one token. */
export const MAX_TOKEN_SERVICES = 64;
/** Maximum number of machines of one group. */
export const MAX_MACHINES = 10_000;

/** Claims of a dataplane token: the Dataplanes for which it is valid. */
export interface DataplaneClaims extends TokenFacts {
  /** ms since 1970; whole seconds. */
  readonly issuedAt: number;
  /** Binding with a mesh. */
  readonly binding: WorkloadBinding & { readonly mesh: string };
}

/** Returns the private claims, capitalised as Kuma writes them. Claims that restrict nothing are left out. */
export function dataplanePayload({
  name,
  mesh,
  tags,
  workload,
  namespace,
  services,
  machines,
}: DataplaneClaims['binding']): JsonObject {
  return {
    Mesh: mesh,
    Type: TYPE,
    ...(name === undefined ? {} : { Name: name }),
    ...(tags === undefined
      ? {}
      : { Tags: Object.fromEntries(Object.entries(tags).map(([tag, values]) => [tag, [...values]])) }),
    ...(workload === undefined ? {} : { Workload: workload }),
    ...(namespace === undefined ? {} : { Namespace: namespace }),
    ...(services === undefined ? {} : { Services: [...services] }),
    ...(machines === undefined ? {} : { Machines: machines }),
  };
}

/**
 * Returns the claims of a verified token. An empty claim restricts nothing, as in Kuma, but the mesh is required. Does
 * not compare the claims with a Dataplane.
 */
export function decodeDataplaneClaims({ id, expiresAt, payload }: VerifiedToken): DataplaneClaims {
  const { Name, Mesh, Tags, Type, Workload, Namespace, Services, Machines, iat } = payload;
  const issuedAt = ((typeof iat === 'number' ? iat : 0) + BACKDATED) * 1_000;
  const [name, mesh, type, workload, namespace] = [
    readText(Name, 'Name'),
    readText(Mesh, 'Mesh'),
    readText(Type, 'Type'),
    readText(Workload, 'Workload'),
    readText(Namespace, 'Namespace'),
  ];
  if (mesh === undefined) throw refusal('Mesh', 'must be the name of a mesh');
  if (type !== undefined && type !== TYPE) throw refusal('Type', `must be ${TYPE}`);
  const tags = readTags(Tags);
  const services = servicesIn(Services);
  const machines = machinesIn(Machines);
  const binding = {
    mesh,
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags }),
    ...(workload === undefined ? {} : { workload }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(services === undefined ? {} : { services }),
    ...(machines === undefined ? {} : { machines }),
  };
  return { id, expiresAt, issuedAt, binding };
}

function readText(value: unknown, claim: string): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw refusal(claim, 'must be a text');
  return value;
}

function readTags(value: unknown): NonNullable<WorkloadBinding['tags']> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw refusal('Tags', 'must be lists of texts by tag');
  const entries = Object.entries(value);
  if (entries.length > MAX_TAGS) throw refusal('Tags', `must have at most ${MAX_TAGS} tags`);
  const tags = entries.map(([tag, values]) => {
    if (!isTextList(values) || values.length > MAX_TAG_VALUES)
      throw refusal('Tags', `must be lists of at most ${MAX_TAG_VALUES} texts by tag`);
    return [tag, values] as const;
  });
  return tags.length === 0 ? undefined : Object.fromEntries(tags);
}

function servicesIn(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (isTextList(value) && value.length <= MAX_TOKEN_SERVICES) return value;
  throw refusal('Services', `must be a list of at most ${MAX_TOKEN_SERVICES} texts`);
}

function machinesIn(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_MACHINES) return value;
  throw refusal('Machines', `must be a number from 1 to ${MAX_MACHINES}`);
}

function refusal(claim: string, rule: string): Unauthenticated {
  return new Unauthenticated(`the claim "${claim}" of the dataplane token ${rule}`);
}
