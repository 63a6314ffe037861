import { operation } from '../operation';
import { FlagParameter } from '../parameters';
import { AnyObject } from '../schema';

/** Media types of JSON lines. */
export const LINES_TYPES = ['application/x-ndjson', 'application/jsonl'] as const;

/** The whole store as text, from which an empty store can be restored (docs/guides/backup.md). */
export const exportStore = operation({
  id: 'exportStore',
  method: 'GET',
  path: '/_backup',
  summary: 'Everything that the store holds, as of one revision',
  description:
    'For administrators. JSON lines: a header, one row a line, and an end with the number of rows and the SHA-256 of all lines before it; an answer without the end was cut. One at a time; a client that does not read on for 30 s, or takes longer than 10 min, is cut.',
  access: 'admin',
  query: {
    secrets: FlagParameter(
      'Adds Secrets, GlobalSecrets (signing keys of tokens among them) and the keys of the store. Without them a restored control plane makes keys anew, and tokens of before are refused.',
    ),
  },
  answer: { description: 'A backup.', schema: AnyObject, type: LINES_TYPES[0] },
  problems: [400, 403, 404, 503],
});
