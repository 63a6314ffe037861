import type { HandshakeRequest, RenewTokenRequest } from '@causeway/proto-gen';
import { MAX_DECLARED_KINDS } from '@causeway/kinds';
import { checkName, FieldPath, Invalid, type Violation } from '@causeway/resources';
import type { ZoneHeaders } from '../wire/headers';

/** Printable ASCII: the characters that are safe in a header, a log line and a command. */
const PRINTABLE = /^[ -~]*$/;

/** Maximum lengths of the texts of a handshake, characters. */
const MAX_LENGTH = {
  zone: 63,
  storeId: 200,
  secret: 200,
  instance: 200,
  version: 100,
  incarnation: 100,
  feature: 64,
  kind: 100,
} as const;

/** Maximum number of features, and of points in addition to one per known kind: a later version may know more kinds. */
const MAX_FEATURES = 64;
const MORE_POINTS = 64 + MAX_DECLARED_KINDS;

/** Maximum length of a zone token, characters. */
const MAX_TOKEN_LENGTH = 16_384;

/** Maximum plausible number of leader changes; the margin below 2^53 keeps sums exact. */
export const MAX_EPOCH = 1_000_000_000_000;

/** Validates the headers of a call, before any other work. Throws Invalid. */
export function checkHeaders({ zone, version, features, token }: ZoneHeaders): void {
  refuse([
    ...zoneFaults('client-id', zone),
    ...textFaults('version', version, MAX_LENGTH.version),
    ...countFaults('features', features.length, MAX_FEATURES),
    ...(token !== undefined && token.length > MAX_TOKEN_LENGTH
      ? [tooLong('authorization', token.length, MAX_TOKEN_LENGTH)]
      : []),
  ]);
}

/** Validates the texts and counts of a handshake with a global that knows `kinds` kinds. Throws Invalid. */
export function checkHandshake(request: HandshakeRequest, kinds: number): void {
  const { zone, storeId, instance, version, incarnation, features, resumePoints } = request;
  refuse([
    ...zoneFaults('zone', zone),
    ...textFaults('storeId', storeId, MAX_LENGTH.storeId),
    ...textFaults('instance', instance, MAX_LENGTH.instance),
    ...textFaults('version', version, MAX_LENGTH.version),
    ...textFaults('incarnation', incarnation, MAX_LENGTH.incarnation),
    ...countFaults('features', features.length, MAX_FEATURES),
    ...features
      .slice(0, MAX_FEATURES)
      .flatMap((feature, i) => textFaults(`features[${i}]`, feature, MAX_LENGTH.feature)),
    ...countFaults('resumePoints', resumePoints.length, kinds + MORE_POINTS),
    ...resumePoints
      .slice(0, kinds + MORE_POINTS)
      .flatMap((point, i) => [
        ...textFaults(`resumePoints[${i}].kind`, point.kind, MAX_LENGTH.kind),
        ...textFaults(`resumePoints[${i}].incarnation`, point.incarnation, MAX_LENGTH.incarnation),
        ...textFaults(`resumePoints[${i}].view`, point.view, MAX_LENGTH.incarnation),
        ...textFaults(`resumePoints[${i}].mac`, point.mac, MAX_LENGTH.incarnation),
      ]),
  ]);
}

/** Validates the texts of a renewal of a token. Throws Invalid. */
export function checkRenewal({ zone, storeId, secret, instance }: RenewTokenRequest): void {
  refuse([
    ...zoneFaults('zone', zone),
    ...textFaults('storeId', storeId, MAX_LENGTH.storeId),
    ...textFaults('secret', secret, MAX_LENGTH.secret),
    ...textFaults('instance', instance, MAX_LENGTH.instance),
  ]);
}

function zoneFaults(field: string, zone: string): readonly Violation[] {
  return zone.length > MAX_LENGTH.zone
    ? [tooLong(field, zone.length, MAX_LENGTH.zone)]
    : checkName(zone, FieldPath.at(field));
}

function textFaults(field: string, text: string, longest: number): readonly Violation[] {
  if (text.length > longest) return [tooLong(field, text.length, longest)];
  return PRINTABLE.test(text)
    ? []
    : [FieldPath.at(field).violation('must consist of printable ASCII characters', 'wrong-form')];
}

function countFaults(field: string, count: number, most: number): readonly Violation[] {
  return count <= most
    ? []
    : [FieldPath.at(field).violation(`must not have more than ${most} items, has ${count}`, 'too-many')];
}

function tooLong(field: string, length: number, longest: number): Violation {
  return FieldPath.at(field).violation(`must not be longer than ${longest} characters, has ${length}`, 'too-long');
}

/** Throws Invalid with the first violations; the rest would add nothing. */
function refuse(violations: readonly Violation[]): void {
  if (violations.length > 0) throw new Invalid(violations.slice(0, 10));
}
