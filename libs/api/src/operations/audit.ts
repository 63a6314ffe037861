import { Type } from 'typebox';
import { operation } from '../operation';
import { CursorPage, TextParameter, WordParameter } from '../parameters';
import { component, Integer, strict, Text, Time, type Value } from '../schema';

const OptionalText = Type.Optional(Text);
function Described(description: string) {
  return Type.Optional(Type.String({ description }));
}
function Generation(description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, description }));
}

/** An entry of the audit log: an action of a user, or its refusal. */
export const AuditEntry = Type.Object(
  {
    time: Time,
    user: Text,
    groups: Type.Array(Text),
    recognizedBy: Type.String({ description: 'How the user was recognised.' }),
    tokenId: Described('The id of the token, never the token.'),
    verb: Described('create, update or delete; put where a refused PUT might have been either.'),
    kind: OptionalText,
    mesh: OptionalText,
    zone: OptionalText,
    namespace: OptionalText,
    name: OptionalText,
    activity: Described('What was done besides writing a resource.'),
    address: OptionalText,
    interface: Type.Enum(['REST', 'gRPC', 'in-process']),
    userAgent: OptionalText,
    requestId: Described('The id of the request, which its answer has in X-Request-Id.'),
    traceId: Described('The id of the trace that the request belongs to.'),
    result: Type.Enum(['done', 'refused']),
    reason: Described('Why it was refused.'),
    generationBefore: Generation('Absent where the write created the resource.'),
    generationAfter: Generation('Absent where the write deleted the resource.'),
    revision: Type.Optional(Integer),
  },
  component('AuditEntry', {
    description: 'What a user did, or what was refused; what does not apply is left out.',
    ...strict,
  }),
);
export type AuditEntry = Value<typeof AuditEntry>;

function Instant(description: string) {
  return Type.Optional(Type.String({ description, format: 'date-time' }));
}

/** The audit log, newest first; there is no total: counting would read the whole log. */
export const listAuditEntries = operation({
  id: 'listAuditEntries',
  method: 'GET',
  path: '/_audit',
  summary: 'What users did, and what was refused',
  access: { verb: 'get', kinds: ['AuditLog'] },
  query: {
    user: TextParameter('Only what this user did.'),
    verb: TextParameter('Only this verb: create, update, delete, ...'),
    kind: TextParameter('Only this kind of resource, or of activity (ZoneToken, SyncDecision).'),
    mesh: TextParameter('Only resources of this mesh.'),
    name: TextParameter('Only resources of exactly this name.'),
    result: WordParameter(['done', 'refused'], 'Only this result.'),
    since: Instant('From this time on.'),
    until: Instant('Before this time.'),
    ...CursorPage,
  },
  answer: {
    description: 'A page of the audit log.',
    schema: Type.Object(
      { items: Type.Array(AuditEntry), next: Type.Unsafe<string | null>({ type: ['string', 'null'] }) },
      component('AuditPage', {
        description: 'Newest first. A page that is not full may have a next one.',
        ...strict,
      }),
    ),
  },
  problems: [400, 403],
});
