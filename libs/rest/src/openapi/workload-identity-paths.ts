import { BODY_TYPES } from '../http/body-decode';
import {
  flag,
  integer,
  jsonContent,
  list,
  object,
  problemResponses,
  schema,
  text,
  textMap,
  time,
} from './schema-parts';
import type { OpenApiObject } from './schema-parts';
import { LISTED_TOKEN, REVOCATION, tokenPaths, VALIDITY } from './zone-access-paths';

const name: OpenApiObject = { type: 'string', maxLength: 253 };
const tags: OpenApiObject = {
  type: ['object', 'null'],
  maxProperties: 32,
  additionalProperties: { ...list(text), minItems: 1, maxItems: 64 },
};

/** Schemas of dataplane tokens and of a zone's certificate authority. */
export const WORKLOAD_IDENTITY_SCHEMAS: OpenApiObject = {
  DataplaneTokenOrder: object(
    {
      mesh: { ...text, minLength: 1, maxLength: 253 },
      name: {
        ...name,
        description:
          'The Dataplane. Empty: any new one of a group of equal machines, with workload and services. Without the workload, proof of the workload of that name.',
      },
      namespace: { ...name, description: 'Of the Dataplane; default where it is left out.' },
      services: {
        ...list(text),
        maxItems: 64,
        description: 'The services that it may serve; left out: one of its own name.',
      },
      machines: {
        ...integer,
        minimum: 1,
        maximum: 10_000,
        default: 100,
        description: 'Without a name: how many machines may be there at once.',
      },
      workload: { ...name, description: 'The workload; a service name from the label kuma.io/workload needs it.' },
      tags: { ...tags, description: 'The values that each tag may have; the Dataplane must have the tag.' },
      type: { enum: ['', 'dataplane'] },
      validFor: { ...VALIDITY, default: '720h' },
    },
    ['mesh'],
    { additionalProperties: false },
  ),
  DataplaneToken: object({ token: text, id: text, mesh: text, expiresAt: time }, ['token', 'id', 'mesh', 'expiresAt']),
  ListedDataplaneToken: object(
    {
      ...LISTED_TOKEN,
      mesh: text,
      name: text,
      workload: text,
      namespace: text,
      services: list(text),
      machines: integer,
      tags: { ...textMap, additionalProperties: list(text) },
    },
    [...Object.keys(LISTED_TOKEN), 'mesh'],
  ),
  DataplaneTokenRevocation: REVOCATION,
  AuthorityRotation: object(
    {
      deadline: { ...VALIDITY, default: '1h', description: 'How long proxies and other zones are waited for.' },
      force: { ...flag, description: 'Nobody is waited for; a rotation that waits goes on at once.' },
      abandon: { ...flag, description: 'Gives a rotation up whose new authority is not used yet; alone.' },
    },
    [],
    { additionalProperties: false },
  ),
  WorkloadAuthority: object(
    {
      step: { enum: ['steady', 'trusting', 'retiring'] },
      since: { ...time, description: 'When the step began.' },
      deadline: { ...time, description: 'While trusting: the wait ends then.' },
      until: { ...time, description: 'While retiring: the old authority is trusted until then.' },
      usedBy: { enum: ['acks', 'deadline', 'force'], description: 'While retiring: why the new one was used.' },
      missing: object({ total: integer, items: { ...list(text), maxItems: 100 } }, ['total', 'items'], {
        description: 'While trusting: who has not learned of the new authority; while retiring: who had not.',
      }),
      authorities: list(
        object(
          {
            id: text,
            sha256: text,
            signs: flag,
            certificate: text,
            creationTime: time,
            notBefore: time,
            notAfter: time,
          },
          ['id', 'sha256', 'signs', 'certificate', 'creationTime', 'notBefore', 'notAfter'],
        ),
      ),
      order: object({ type: { enum: ['rotate', 'force', 'abandon'] }, by: text, at: time }, ['type', 'by', 'at'], {
        description: 'The leader has not carried it out yet.',
      }),
    },
    ['step', 'missing', 'authorities'],
  ),
};

/** Dataplane tokens and the certificate authority of a zone, which are 404 on a global. */
export function workloadIdentityPaths(): OpenApiObject {
  const authority = jsonContent('The authority; never a key.', schema('WorkloadAuthority'));
  const media = { schema: schema('AuthorityRotation'), example: { deadline: '1h' } };
  return {
    ...tokenPaths('dataplane', {
      does: 'shows which Dataplanes a proxy may be',
      schemas: 'DataplaneToken',
      order: { mesh: 'default', name: 'redis-1', workload: 'redis', validFor: '720h' },
    }),
    '/_ca': {
      get: {
        operationId: 'showWorkloadAuthority',
        tags: ['Server'],
        summary: "The certificate authority of the zone's workloads, and how a rotation of it stands",
        responses: { 200: authority, ...problemResponses(400, 403, 404) },
      },
    },
    '/_ca/rotation': {
      post: {
        operationId: 'rotateWorkloadAuthority',
        tags: ['Server'],
        summary: 'Begin a rotation of the certificate authority, force its next step, or give it up',
        requestBody: { content: { [BODY_TYPES.json[0]]: media, [BODY_TYPES.yaml[0]]: media } },
        responses: { 200: authority, ...problemResponses(400, 403, 404, 409, 413, 415, 422) },
      },
    },
  };
}
