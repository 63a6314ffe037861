import { BODY_TYPES } from '../http/body-decode';
import { OFFSET_PAGE_PARAMETERS } from '../requests/query-parameters';
import { queryParameters } from './parameters';
import {
  problemResponses,
  jsonContent,
  flag,
  integer,
  list,
  object,
  page,
  schema,
  text,
  time,
  type OpenApiObject,
} from './schema-parts';

/** A validity of tokens. */
export const VALIDITY: OpenApiObject = {
  type: 'string',
  pattern: '^([0-9]{1,9}(ms|s|m|h|d))+$',
  description: 'A duration from 1s to 87600h, such as 720h or 30d.',
};

/** The fields of every listed token. */
export const LISTED_TOKEN: OpenApiObject = { id: text, issuedAt: time, expiresAt: time, issuedBy: text, revoked: flag };

/** A token to revoke. */
export const REVOCATION: OpenApiObject = object({ id: { type: 'string', pattern: '^[^\\s,]{1,200}$' } }, ['id'], {
  additionalProperties: false,
});

const groups = { ...list(text), maxItems: 64 };

/** Schemas of zone tokens and user tokens. */
export const ZONE_ACCESS_SCHEMAS: OpenApiObject = {
  ZoneTokenOrder: object(
    {
      zone: { type: 'string', minLength: 1, maxLength: 63 },
      validFor: { ...VALIDITY, default: '720h' },
      scope: { ...list({ enum: ['cp', 'ingress', 'egress'] }), minItems: 1, default: ['cp'] },
    },
    ['zone'],
    { additionalProperties: false },
  ),
  ZoneToken: object({ token: text, id: text, zone: text, scope: list(text), expiresAt: time }, [
    'token',
    'id',
    'zone',
    'scope',
    'expiresAt',
  ]),
  ListedZoneToken: object({ ...LISTED_TOKEN, zone: text, scope: list(text) }, [
    ...Object.keys(LISTED_TOKEN),
    'zone',
    'scope',
  ]),
  UserTokenOrder: object(
    { name: { type: 'string', minLength: 1, maxLength: 128 }, groups, validFor: { ...VALIDITY, default: '24h' } },
    ['name'],
    { additionalProperties: false },
  ),
  UserToken: object({ token: text, id: text, name: text, groups, expiresAt: time }, [
    'token',
    'id',
    'name',
    'groups',
    'expiresAt',
  ]),
  ListedUserToken: object({ ...LISTED_TOKEN, name: text, groups }, [...Object.keys(LISTED_TOKEN), 'name', 'groups']),
  UserTokenRevocation: REVOCATION,
  ZoneTokenRevocation: REVOCATION,
};

/** User tokens; zone tokens, which are 404 in a federated zone; and the authority of the global. */
export function zoneAccessPaths(): OpenApiObject {
  return {
    ...tokenPaths('zone', { does: 'lets a zone in', schemas: 'ZoneToken', order: { zone: 'east', validFor: '720h' } }),
    ...tokenPaths('user', {
      does: 'shows who a user is',
      schemas: 'UserToken',
      order: { name: 'anna', groups: ['developers'], validFor: '30d' },
    }),
    '/kds/ca': {
      get: {
        operationId: 'showZoneAuthority',
        tags: ['Server'],
        summary: 'What zones verify the global by, in PEM',
        responses: {
          200: { description: 'A certificate.', content: { 'application/x-pem-file': { schema: text } } },
          ...problemResponses(400, 404),
        },
      },
    },
  };
}

/** Texts of the paths of tokens of one use. */
interface TokenPathTexts {
  /** Purpose of such a token, after `a token that`. */
  readonly does: string;
  /** The schema of an issued token; the others are named after it. */
  readonly schemas: string;
  /** An example. */
  readonly order: OpenApiObject;
}

/** The paths of tokens of one use. */
export function tokenPaths(
  use: 'zone' | 'user' | 'dataplane',
  { does, schemas, order }: TokenPathTexts,
): OpenApiObject {
  const issued = jsonContent('The token; shown once.', schema(schemas));
  return {
    [`/tokens/${use}`]: {
      get: {
        operationId: `list${schemas}s`,
        tags: ['Server'],
        summary: `The ${use} tokens that are valid or expired within a week, the first to expire first`,
        parameters: queryParameters(OFFSET_PAGE_PARAMETERS),
        responses: {
          200: jsonContent('Never the tokens themselves.', page(schema(`Listed${schemas}`))),
          ...problemResponses(400, 403, 404),
        },
      },
      post: {
        operationId: `issue${schemas}`,
        tags: ['Server'],
        summary: `Issue a token that ${does}`,
        requestBody: bodyOf(`${schemas}Order`, order),
        responses: {
          200: { ...issued, content: { ...contentOf(issued), 'text/plain': { schema: text } } },
          ...problemResponses(400, 403, 404, 409, 413, 415, 422),
        },
      },
    },
    [`/tokens/${use}/revocations`]: {
      post: {
        operationId: `revoke${schemas}`,
        tags: ['Server'],
        summary: `Revoke a ${use} token by its id (jti)`,
        requestBody: bodyOf(`${schemas}Revocation`, { id: '6f1b2c0e-0000-4000-8000-000000000000' }),
        responses: {
          200: jsonContent('Revoked.', schema('Written')),
          ...problemResponses(400, 403, 404, 409, 413, 415, 422),
        },
      },
    },
    [`/tokens/${use}/keys`]: keyPath(use, schemas),
  };
}

function keyPath(use: string, schemas: string): OpenApiObject {
  return {
    post: {
      operationId: `rotate${schemas}Key`,
      tags: ['Server'],
      summary: `Make a newer signing key of ${use} tokens`,
      responses: {
        200: jsonContent('New tokens are signed with it.', object({ serial: integer }, ['serial'])),
        ...problemResponses(400, 403, 404),
      },
    },
  };
}

function bodyOf(name: string, example: OpenApiObject): OpenApiObject {
  const media = { schema: schema(name), example };
  return { required: true, content: { [BODY_TYPES.json[0]]: media, [BODY_TYPES.yaml[0]]: media } };
}

function contentOf(part: OpenApiObject): object {
  return typeof part['content'] === 'object' && part['content'] !== null ? part['content'] : {};
}
