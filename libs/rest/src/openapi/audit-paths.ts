import { AUDIT_PARAMETERS } from '../requests/query-parameters';
import { queryParameters } from './parameters';
import {
  integer,
  jsonContent,
  list,
  object,
  problemResponses,
  schema,
  text,
  time,
  type OpenApiObject,
} from './schema-parts';

const generation: OpenApiObject = { ...integer, minimum: 1 };

/** Schemas of the audit log. */
export const AUDIT_SCHEMAS: OpenApiObject = {
  AuditEntry: object(
    {
      time,
      user: text,
      groups: list(text),
      recognizedBy: { ...text, description: 'How the user was recognised.' },
      tokenId: { ...text, description: 'The id of the token, never the token.' },
      verb: { ...text, description: 'create, update or delete; put where a refused PUT might have been either.' },
      kind: text,
      mesh: text,
      zone: text,
      namespace: text,
      name: text,
      activity: { ...text, description: 'What was done besides writing a resource.' },
      address: text,
      interface: { enum: ['REST', 'gRPC', 'in-process'] },
      userAgent: text,
      requestId: { ...text, description: 'The id of the request, which its answer has in X-Request-Id.' },
      traceId: { ...text, description: 'The id of the trace that the request belongs to.' },
      result: { enum: ['done', 'refused'] },
      reason: { ...text, description: 'Why it was refused.' },
      generationBefore: { ...generation, description: 'Absent where the write created the resource.' },
      generationAfter: { ...generation, description: 'Absent where the write deleted the resource.' },
      revision: integer,
    },
    ['time', 'user', 'groups', 'recognizedBy', 'interface', 'result'],
    {
      description: 'What a user did, or what was refused; what does not apply is left out.',
      additionalProperties: false,
    },
  ),
  AuditPage: object({ items: list(schema('AuditEntry')), next: { type: ['string', 'null'] } }, ['items', 'next'], {
    description: 'Newest first. A page that is not full may have a next one.',
    additionalProperties: false,
  }),
};

/** The audit log. */
export function auditPaths(): OpenApiObject {
  return {
    '/_audit': {
      get: {
        operationId: 'listAuditEntries',
        tags: ['Server'],
        summary: 'What users did, and what was refused',
        parameters: queryParameters(AUDIT_PARAMETERS),
        responses: { 200: jsonContent('A page of the audit log.', schema('AuditPage')), ...problemResponses(400, 403) },
      },
    },
  };
}
