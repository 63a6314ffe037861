import {
  dataplaneTokenViolations,
  userTokenViolations,
  zoneTokenViolations,
  type DataplaneTokenRequest,
  type UserTokenRequest,
  type ZoneTokenRequest,
} from '@causeway/access';
import { FieldPath, Invalid, isJsonObject, type Violation } from '@causeway/resources';
import type { TokenForm } from './token-queries';

/** Requests for user tokens. */
export const USER_TOKEN_FORM: TokenForm<UserTokenRequest> = {
  name: 'user token',
  notHere: 'This control plane issues no user tokens.',
  decode: ({ name, groups, validFor }) => {
    const violations = [
      ...(isText(name) ? [] : [FieldPath.at('name').violation('must be the name of a user')]),
      ...(groups === undefined || isTextList(groups) ? [] : [FieldPath.at('groups').violation(LIST_OF_TEXTS)]),
      ...durationViolations(validFor, '24h or 30d'),
    ];
    const given = { ...(isTextList(groups) && { groups }), ...(isText(validFor) && { validFor }) };
    if (violations.length > 0 || !isText(name))
      throw new Invalid([...violations, ...userTokenViolations({ ...given, ...(isText(name) && { name }) })]);
    return { name, ...given };
  },
};

/** Requests for zone tokens. */
export const ZONE_TOKEN_FORM: TokenForm<ZoneTokenRequest> = {
  name: 'zone token',
  notHere:
    'Zone tokens are issued by the global control plane that this zone belongs to: send the same request there (causeway --context global, or --server URL).',
  decode: ({ zone, validFor, scope, renew }) => {
    const violations = [
      ...(isText(zone) ? [] : [FieldPath.at('zone').violation('must be the name of a zone')]),
      ...durationViolations(validFor, '720h or 30d'),
      ...(scope === undefined || isTextList(scope) ? [] : [FieldPath.at('scope').violation(LIST_OF_TEXTS)]),
      ...(renew === undefined || typeof renew === 'boolean'
        ? []
        : [FieldPath.at('renew').violation('must be true or false')]),
    ];
    const given = {
      ...(isText(validFor) && { validFor }),
      ...(isTextList(scope) && { scope }),
      ...(typeof renew === 'boolean' && { renew }),
    };
    if (violations.length > 0 || !isText(zone))
      throw new Invalid([...violations, ...zoneTokenViolations({ ...given, ...(isText(zone) && { zone }) })]);
    return { zone, ...given };
  },
};

/** The only type of proxies with dataplane tokens; a zone ingress or egress presents a zone token. */
const TYPE = 'dataplane';

/** Requests for dataplane tokens, as Kuma's clients send them: an empty field restricts nothing (docs/reference/kuma-rest.md §5.5). */
export const DATAPLANE_TOKEN_FORM: TokenForm<DataplaneTokenRequest> = {
  name: 'dataplane token',
  notHere: 'Dataplane tokens are issued by the control plane of each zone; ask there.',
  decode: ({ name, mesh, tags, type, workload, validFor, namespace, services, machines }) => {
    const violations: Violation[] = Object.entries({ name, workload, validFor, namespace }).flatMap(([field, value]) =>
      isAbsent(value) || isText(value) ? [] : [FieldPath.at(field).violation('must be a text')],
    );
    if (!isText(mesh) || mesh === '')
      violations.push(FieldPath.at('mesh').violation('must be the name of a mesh', 'required'));
    if (!isAbsent(type) && type !== TYPE)
      violations.push(FieldPath.at('type').violation(`must be ${TYPE} or left out: others show zone tokens`));
    if (!isAbsent(tags) && !isTextsByTag(tags))
      violations.push(FieldPath.at('tags').violation('must be lists of texts by tag'));
    if (!isAbsent(services) && !isTextList(services))
      violations.push(FieldPath.at('services').violation(LIST_OF_TEXTS));
    if (!isAbsent(machines) && typeof machines !== 'number')
      violations.push(FieldPath.at('machines').violation('must be a number'));
    const given = {
      ...(isGivenText(mesh) && { mesh }),
      ...(isGivenText(name) && { name }),
      ...(isGivenText(workload) && { workload }),
      ...(isGivenText(validFor) && { validFor }),
      ...(isGivenText(namespace) && { namespace }),
      ...(isTextList(services) && { services }),
      ...(typeof machines === 'number' && { machines }),
      ...(isTextsByTag(tags) && Object.keys(tags).length > 0 && { tags }),
    };
    if (violations.length > 0 || !isText(mesh)) throw new Invalid([...violations, ...dataplaneTokenViolations(given)]);
    return { ...given, mesh };
  },
};

const LIST_OF_TEXTS = 'must be a list of texts';

function durationViolations(value: unknown, examples: string): readonly Violation[] {
  if (value === undefined || isText(value)) return [];
  return [FieldPath.at('validFor').violation(`must be a duration such as ${examples}`)];
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isGivenText(value: unknown): value is string {
  return isText(value) && value !== '';
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isTextsByTag(value: unknown): value is Readonly<Record<string, readonly string[]>> {
  return isJsonObject(value) && Object.values(value).every(isTextList);
}
