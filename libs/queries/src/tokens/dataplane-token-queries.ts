import {
  dataplaneTokenViolations,
  type DataplaneTokenRequest,
  type IssuedToken,
  type ListedToken,
} from '@causeway/access';
import { FieldPath, Invalid, isJsonObject, NotFound, type JsonObject, type Violation } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';
import { tokenPage } from './token-page';

/** Issuer of dataplane tokens of a zone. Methods throw DomainErrors. */
export interface DataplaneAccess {
  issue(request: DataplaneTokenRequest): Promise<IssuedToken>;
  /** Those that are valid or expired within the last week; the first to expire first. */
  list(): Promise<readonly ListedToken[]>;
  /** Revokes a token by its id and resolves with warnings. */
  revoke(id: string): Promise<readonly string[]>;
  /** Makes a newer signing key and resolves with its serial. */
  rotate(): Promise<number>;
}

/** A dataplane token that was issued, with what it holds for. */
export interface IssuedDataplaneToken extends IssuedToken {
  readonly mesh: string;
}

/** Dataplane tokens for callers on any interface: checks their input, and throws NotFound on a global, which has no proxies. */
export class DataplaneTokenQueries {
  constructor(private readonly access: DataplaneAccess | undefined) {}

  /** Throws NotFound on a global. */
  checkHere(): void {
    this.here();
  }

  /** Issues a token on behalf of the user `issuedBy`. Rejects with Invalid for fields of a wrong type. */
  async issue(fields: JsonObject, issuedBy: string): Promise<IssuedDataplaneToken> {
    const access = this.here();
    const request = decodeRequest(fields);
    return { ...(await access.issue({ ...request, issuedBy })), mesh: request.mesh };
  }

  /** A range of the tokens that are valid or expired within the last week; the first to expire first. */
  async list(range: PageRange): Promise<SortedPage<JsonObject>> {
    return tokenPage(await this.here().list(), range);
  }

  /** Revokes a token by its id and resolves with warnings; one that is revoked stays so. */
  async revoke(id: unknown): Promise<readonly string[]> {
    const access = this.here();
    if (typeof id !== 'string')
      throw new Invalid([FieldPath.at('id').violation('must be the id (jti) of a dataplane token')]);
    return access.revoke(id);
  }

  /** Makes a newer signing key and resolves with its serial. */
  async rotate(): Promise<number> {
    return this.here().rotate();
  }

  private here(): DataplaneAccess {
    if (this.access) return this.access;
    throw new NotFound('Dataplane tokens are issued by the control plane of each zone; ask there.');
  }
}

/** The one type of proxies that show dataplane tokens; those of a zone ingress or egress show zone tokens. */
const TYPE = 'dataplane';

/** The fields as Kuma's clients send them: what is empty restricts nothing (docs/reference/kuma-rest.md §5.5). */
function decodeRequest(fields: JsonObject): DataplaneTokenRequest {
  const { name, mesh, tags, type, workload, validFor, namespace, services, machines } = fields;
  const texts = { name, workload, validFor, namespace };
  const violations: Violation[] = Object.entries(texts).flatMap(([field, value]) =>
    isAbsent(value) || typeof value === 'string' ? [] : [FieldPath.at(field).violation('must be a text')],
  );
  if (typeof mesh !== 'string' || mesh === '')
    violations.push(FieldPath.at('mesh').violation('must be the name of a mesh', 'required'));
  if (!isAbsent(type) && type !== TYPE)
    violations.push(FieldPath.at('type').violation(`must be ${TYPE} or left out: others show zone tokens`));
  const held = isAbsent(tags) ? {} : tagsIn(tags);
  if (!held) violations.push(FieldPath.at('tags').violation('must be lists of texts by tag'));
  const listed = isAbsent(services) ? [] : textsIn(services);
  if (!listed) violations.push(FieldPath.at('services').violation('must be a list of texts'));
  if (!isAbsent(machines) && typeof machines !== 'number')
    violations.push(FieldPath.at('machines').violation('must be a number'));
  const given = {
    ...textPart('mesh', mesh),
    ...textPart('name', name),
    ...textPart('workload', workload),
    ...textPart('validFor', validFor),
    ...textPart('namespace', namespace),
    ...(listed && !isAbsent(services) ? { services: listed } : {}),
    ...(typeof machines === 'number' ? { machines } : {}),
    ...(!held || Object.keys(held).length === 0 ? {} : { tags: held }),
  };
  if (violations.length > 0 || typeof mesh !== 'string')
    throw new Invalid([...violations, ...dataplaneTokenViolations(given)]);
  return { ...given, mesh };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function textPart<F extends string>(field: F, value: unknown): { readonly [key in F]?: string } | object {
  return typeof value === 'string' && value !== '' ? { [field]: value } : {};
}

function textsIn(value: unknown): readonly string[] | undefined {
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  return Array.isArray(value) && texts.length === value.length ? texts : undefined;
}

function tagsIn(value: unknown): Readonly<Record<string, readonly string[]>> | undefined {
  if (!isJsonObject(value)) return undefined;
  const entries = Object.entries(value).flatMap(([tag, values]): readonly (readonly [string, readonly string[]])[] => {
    const texts = Array.isArray(values) ? values.filter((one) => typeof one === 'string') : [];
    return Array.isArray(values) && texts.length === values.length ? [[tag, texts]] : [];
  });
  return entries.length === Object.keys(value).length ? Object.fromEntries(entries) : undefined;
}
