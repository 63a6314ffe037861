import type { JsonObject } from '@causeway/resources';
import { Type } from 'typebox';
import { operation } from '../operation';
import { DryRun, FlagParameter, TextParameter } from '../parameters';
import { AnyObject, component, Flag, Integer, Text, type Value } from '../schema';
import { LINES_TYPES } from './backup';
import { AnyDocument } from '../schemas/documents';
import { Problem } from '../schemas/problem';

/** Outcomes of one document of a batch. */
const OUTCOMES = ['created', 'updated', 'unchanged', 'refused', 'skipped'] as const;

const OptionalText = Type.Optional(Text);
const LocatedViolation = Type.Object({
  field: Text,
  reason: Text,
  rule: Text,
  line: Type.Optional(Integer),
  column: Type.Optional(Integer),
});

const BatchProgress = Type.Object({ progress: Integer, of: Integer, written: Integer }, component('BatchProgress'));

const BatchResult = Type.Object(
  {
    index: Type.Integer({ description: 'The document in the body, from 0.' }),
    line: Type.Optional(Type.Integer({ description: 'Where the document begins, from 1.' })),
    column: Type.Optional(Integer),
    type: OptionalText,
    mesh: OptionalText,
    zone: OptionalText,
    namespace: OptionalText,
    name: OptionalText,
    outcome: Type.Enum([...OUTCOMES]),
    revision: Type.Optional(Integer),
    etag: OptionalText,
    warnings: Type.Optional(Type.Array(Text)),
    diff: Type.Optional(
      Type.Object(
        { before: Type.Unsafe<JsonObject | null>({ type: ['object', 'null'] }), after: AnyDocument },
        { description: 'On a dry run: what would change. Values of confidential kinds are not shown.' },
      ),
    ),
    status: Type.Optional(Type.Integer({ description: 'Of a refused document: what a PUT of it would be answered.' })),
    title: OptionalText,
    detail: OptionalText,
    invalid_parameters: Type.Optional(Type.Array(LocatedViolation)),
    sameAs: Type.Optional(Type.Integer({ description: 'Index of another document of the same resource.' })),
  },
  component('BatchResult'),
);

const BatchSummary = Type.Object(
  {
    summary: Type.Object({
      total: Integer,
      created: Integer,
      updated: Integer,
      unchanged: Integer,
      refused: Integer,
      skipped: Integer,
      atomic: Flag,
      dryRun: Flag,
      written: Flag,
      revision: Integer,
    }),
  },
  component('BatchSummary'),
);

const BatchFailure = Type.Object(
  { error: Problem },
  component('BatchFailure', {
    description: 'Instead of results and summary: the batch failed after it had begun.',
  }),
);

/** One line of the answer to a batch. */
const BatchLine = Type.Unsafe<
  Value<typeof BatchProgress> | Value<typeof BatchResult> | Value<typeof BatchSummary> | Value<typeof BatchFailure>
>({
  ...component('BatchLine'),
  oneOf: [BatchProgress, BatchResult, BatchSummary, BatchFailure],
});

/** Many resources as one write (docs/design.md §6 Batches): JSON lines with progress, one result for each document, a summary. */
export const applyResources = operation({
  id: 'applyResources',
  method: 'POST',
  path: '/_apply',
  summary: 'Create or replace many resources',
  description:
    'Up to 10,000 documents as one write: JSON lines, a list or one object of JSON (64 MiB), or YAML documents (1 MiB). Creation keeps their order, and a Mesh counts for the documents behind it. Two documents of one resource are both refused. A body that cannot be read is refused as a whole; otherwise the answer is 200 with one line of JSON for each BatchLine, the summary last: whether anything was written stands there.',
  grpc: 'ResourceService.Apply',
  access: 'any-right',
  query: {
    atomic: FlagParameter('Write all documents or none; without it each document is written by itself.'),
    ...DryRun,
    mesh: TextParameter(
      'The mesh of documents that name none; absent: the one that selects their namespace, else the expected one.',
    ),
  },
  body: {
    schema: AnyObject,
    example: {
      type: 'MeshService',
      mesh: 'default',
      name: 'redis',
      spec: { selector: { dataplaneTags: { app: 'redis' } }, ports: [{ port: 6379, appProtocol: 'tcp' }] },
    },
    types: [LINES_TYPES[0], 'application/json', 'application/yaml'],
  },
  answer: {
    description: 'Progress, one result for each document, a summary.',
    schema: BatchLine,
    type: LINES_TYPES[0],
  },
  problems: [400, 403, 413, 415, 422],
  audit: 'itself',
});
