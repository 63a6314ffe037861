import { LINES_TYPES } from '../http/body-decode';
import { BACKUP_PARAMETERS } from '../requests/backup.pipe';
import { queryParameters } from './parameters';
import { problemResponses, type OpenApiObject } from './schema-parts';

/** The path of backups. */
export function backupPaths(): OpenApiObject {
  return {
    '/_backup': {
      get: {
        operationId: 'exportStore',
        tags: ['Server'],
        summary: 'Everything that the store holds, as of one revision',
        description:
          'For administrators. JSON lines: a header, one row a line, and an end with the number of rows and the SHA-256 of all lines before it; an answer without the end was cut. One at a time; a client that does not read on for 30 s, or takes longer than 10 min, is cut.',
        parameters: queryParameters(BACKUP_PARAMETERS),
        responses: {
          200: { description: 'A backup.', content: { [LINES_TYPES[0] ?? '']: { schema: { type: 'object' } } } },
          ...problemResponses(400, 403, 404, 503),
        },
      },
    },
  };
}
