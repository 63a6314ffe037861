import { BODY_TYPES } from '../http/body-decode';
import {
  problemResponses,
  jsonContent,
  integer,
  list,
  object,
  schema,
  text,
  time,
  type OpenApiObject,
} from './schema-parts';

/** Schemas of zone tokens. */
export const ZONE_ACCESS_SCHEMAS: OpenApiObject = {
  ZoneTokenOrder: object(
    {
      zone: { type: 'string', minLength: 1, maxLength: 63 },
      validFor: { type: 'string', pattern: '^([0-9]{1,9}(ms|s|m|h))+$', description: 'From 1s to 87600h.' },
      scope: { ...list({ enum: ['cp', 'ingress', 'egress'] }), minItems: 1, default: ['cp'] },
    },
    ['zone', 'validFor'],
    { additionalProperties: false },
  ),
  ZoneToken: object({ token: text, id: text, zone: text, scope: list(text), expiresAt: time }, [
    ...['token', 'id', 'zone', 'scope', 'expiresAt'],
  ]),
  ZoneTokenRevocation: object({ id: { type: 'string', pattern: '^[^\\s,]{1,200}$' } }, ['id'], {
    additionalProperties: false,
  }),
};

/** Zone tokens and the authority of the global; 404 on a zone. */
export function zoneAccessPaths(): OpenApiObject {
  const issued = jsonContent('The token; shown once.', schema('ZoneToken'));
  return {
    '/tokens/zone': {
      post: {
        ...{ operationId: 'issueZoneToken', tags: ['Server'], summary: 'Issue a token that lets a zone in' },
        requestBody: bodyOf('ZoneTokenOrder', { zone: 'east', validFor: '720h' }),
        responses: {
          200: { ...issued, content: { ...contentOf(issued), 'text/plain': { schema: text } } },
          ...problemResponses(400, 403, 404, 413, 415, 422),
        },
      },
    },
    '/tokens/zone/revocations': {
      post: {
        ...{ operationId: 'revokeZoneToken', tags: ['Server'], summary: 'Revoke a zone token by its id (jti)' },
        requestBody: bodyOf('ZoneTokenRevocation', { id: '6f1b2c0e-0000-4000-8000-000000000000' }),
        responses: {
          200: jsonContent('Revoked.', { type: 'object' }),
          ...problemResponses(400, 403, 404, 413, 415, 422),
        },
      },
    },
    '/tokens/zone/keys': {
      post: {
        ...{ operationId: 'rotateZoneTokenKey', tags: ['Server'], summary: 'Make a newer signing key of zone tokens' },
        responses: {
          200: jsonContent('New tokens are signed with it.', object({ serial: integer }, ['serial'])),
          ...problemResponses(400, 403, 404),
        },
      },
    },
    '/kds/ca': {
      get: {
        ...{ operationId: 'showZoneAuthority', tags: ['Server'], summary: 'What zones verify the global by, in PEM' },
        responses: {
          200: { description: 'A certificate.', content: { 'application/x-pem-file': { schema: text } } },
          ...problemResponses(400, 404),
        },
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
