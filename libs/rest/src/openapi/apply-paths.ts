import { BODY_TYPES, LINES_TYPES } from '../http/body-decode';
import { APPLY_PARAMETERS } from '../requests/apply.pipe';
import { queryParameters } from './parameters';
import { flag, integer, list, object, problemResponses, schema, text, type OpenApiObject } from './schema-parts';

const SERVICE = {
  type: 'MeshService',
  mesh: 'default',
  name: 'redis',
  spec: { selector: { dataplaneTags: { app: 'redis' } }, ports: [{ port: 6379, appProtocol: 'tcp' }] },
};

/** The path of batches. */
export function applyPaths(): OpenApiObject {
  const media = { schema: { type: 'object' }, example: SERVICE };
  const types = [LINES_TYPES[0] ?? '', BODY_TYPES.json[0], BODY_TYPES.yaml[0]];
  return {
    '/_apply': {
      post: {
        operationId: 'applyResources',
        tags: ['Server'],
        summary: 'Create or replace many resources',
        description:
          'Up to 10,000 documents as one write: JSON lines, a list or one object of JSON (64 MiB), or YAML documents (1 MiB). Creation keeps their order, and a Mesh counts for the documents behind it. Two documents of one resource are both refused. A body that cannot be read is refused as a whole; otherwise the answer is 200 with one line of JSON for each BatchLine, the summary last: whether anything was written stands there.',
        parameters: queryParameters(APPLY_PARAMETERS),
        requestBody: { required: true, content: Object.fromEntries(types.map((type) => [type, media])) },
        responses: {
          200: {
            description: 'Progress, one result for each document, a summary.',
            content: { [LINES_TYPES[0] ?? '']: { schema: schema('BatchLine') } },
          },
          ...problemResponses(400, 403, 413, 415, 422),
        },
      },
    },
  };
}

const OUTCOMES = ['created', 'updated', 'unchanged', 'refused', 'skipped'] as const;

const LOCATED_VIOLATION = object({ field: text, reason: text, rule: text, line: integer, column: integer }, [
  'field',
  'reason',
  'rule',
]);

/** The lines of the answer to a batch. */
export const APPLY_SCHEMAS: OpenApiObject = {
  BatchLine: {
    oneOf: [schema('BatchProgress'), schema('BatchResult'), schema('BatchSummary'), schema('BatchFailure')],
  },
  BatchProgress: object({ progress: integer, of: integer, written: integer }, ['progress', 'of', 'written']),
  BatchResult: object(
    {
      index: { ...integer, description: 'The document in the body, from 0.' },
      line: { ...integer, description: 'Where the document begins, from 1.' },
      column: integer,
      type: text,
      mesh: text,
      zone: text,
      namespace: text,
      name: text,
      outcome: { enum: OUTCOMES },
      revision: integer,
      etag: text,
      warnings: list(text),
      diff: object({ before: { type: ['object', 'null'] }, after: { type: 'object' } }, ['before', 'after'], {
        description: 'On a dry run: what would change. Values of confidential kinds are not shown.',
      }),
      status: { ...integer, description: 'Of a refused document: what a PUT of it would be answered.' },
      title: text,
      detail: text,
      invalid_parameters: list(LOCATED_VIOLATION),
      sameAs: { ...integer, description: 'Index of another document of the same resource.' },
    },
    ['index', 'outcome'],
  ),
  BatchSummary: object(
    {
      summary: object(
        {
          total: integer,
          ...Object.fromEntries(OUTCOMES.map((outcome) => [outcome, integer])),
          atomic: flag,
          dryRun: flag,
          written: flag,
          revision: integer,
        },
        ['total', ...OUTCOMES, 'atomic', 'dryRun', 'written', 'revision'],
      ),
    },
    ['summary'],
  ),
  BatchFailure: object({ error: schema('Problem') }, ['error'], {
    description: 'Instead of results and summary: the batch failed after it had begun.',
  }),
};
