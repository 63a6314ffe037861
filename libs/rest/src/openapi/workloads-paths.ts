import { BODY_TYPES } from '../http/body-decode';
import { OFFSET_PAGE_PARAMETERS } from '../requests/query-parameters';
import { queryParameters } from './parameters';
import {
  flag,
  jsonContent,
  list,
  object,
  page,
  problemResponses,
  schema,
  text,
  time,
  type OpenApiObject,
} from './schema-parts';

const name: OpenApiObject = { ...text, minLength: 1, maxLength: 253 };
const named = object({ namespace: text, name: text }, ['namespace', 'name'], { additionalProperties: false });

/** Schemas of machines that have joined. */
export const WORKLOAD_SCHEMAS: OpenApiObject = {
  Workload: object(
    {
      mesh: text,
      namespace: text,
      name: text,
      id: { ...text, description: 'Of the enrolment; its certificates carry it.' },
      by: { enum: ['token', 'dataplane', 'upgrade', 'import'], description: 'What granted it.' },
      services: {
        ...list(text),
        description: 'What it may serve; absent: what its Dataplane says, which a user wrote.',
      },
      workload: text,
      tokens: list(text),
      group: text,
      since: time,
      registered: flag,
      confirmBefore: { ...time, description: 'After an import: it ends then unless it is confirmed.' },
    },
    ['mesh', 'namespace', 'name', 'id', 'by', 'tokens', 'since', 'registered'],
    { additionalProperties: false },
  ),
  WorkloadOrder: object({ mesh: name, namespace: { ...name, default: 'default' }, name }, ['mesh', 'name'], {
    additionalProperties: false,
  }),
  WorkloadRevocationOrder: object(
    {
      mesh: name,
      namespace: { ...name, default: 'default' },
      name,
      dryRun: { ...flag, default: false, description: 'Only say what would end.' },
    },
    ['mesh', 'name'],
    { additionalProperties: false },
  ),
  WorkloadRevocationResult: object(
    {
      mesh: text,
      namespace: text,
      name: text,
      dryRun: flag,
      services: list(text),
      tokens: list(text),
      newBundles: { ...list(named), description: 'Dataplanes that joined with the same tokens.' },
      otherZones: {
        enum: ['none', 'informed', 'cut off', 'unknown'],
        description:
          'How they hear of it: none, there are no others; cut off, once this zone is connected to its global again; unknown, the replica that leads knows.',
      },
      disconnectedZones: {
        ...list(text),
        description:
          'Zones without a session, as far as the global has said by now: they act on it first thing when they are back.',
      },
      kumaZones: {
        ...list(text),
        description: 'Zones of Kuma: they know no revocation, and believe a certificate until it ends.',
      },
    },
    [
      'mesh',
      'namespace',
      'name',
      'dryRun',
      'services',
      'tokens',
      'newBundles',
      'otherZones',
      'disconnectedZones',
      'kumaZones',
    ],
    { additionalProperties: false },
  ),
};

/** Machines that have joined a zone, which are 404 on a global. */
export function workloadsPaths(): OpenApiObject {
  const body = (of: string): OpenApiObject => {
    const media = { schema: schema(of), example: { mesh: 'default', name: 'redis-1' } };
    return { required: true, content: { [BODY_TYPES.json[0]]: media, [BODY_TYPES.yaml[0]]: media } };
  };
  const refusals = problemResponses(400, 403, 404, 409, 413, 415, 422);
  return {
    '/_workloads': {
      get: {
        operationId: 'listWorkloads',
        tags: ['Server'],
        summary: 'The machines of this zone that have joined',
        parameters: queryParameters(OFFSET_PAGE_PARAMETERS),
        responses: {
          200: jsonContent('A page of them.', page(schema('Workload'))),
          ...problemResponses(400, 403, 404),
        },
      },
    },
    '/_workloads/revocations': {
      post: {
        operationId: 'revokeWorkload',
        tags: ['Server'],
        summary: 'End what a machine was granted: its tokens, certificates, streams and endpoints, in every zone',
        requestBody: body('WorkloadRevocationOrder'),
        responses: { 200: jsonContent('What has ended.', schema('WorkloadRevocationResult')), ...refusals },
      },
    },
    '/_workloads/confirmations': {
      post: {
        operationId: 'confirmWorkload',
        tags: ['Server'],
        summary: 'Let a machine stand that came back by its certificate after an import',
        requestBody: body('WorkloadOrder'),
        responses: {
          200: jsonContent(
            'It is confirmed.',
            object({ mesh: text, namespace: text, name: text }, ['mesh', 'namespace', 'name']),
          ),
          ...refusals,
        },
      },
    },
  };
}
