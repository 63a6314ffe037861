import { Type } from 'typebox';
import { operation } from '../operation';
import { component, Flag, Integer, strict, Text, Time, type Value } from '../schema';
import { Validity } from './tokens';

const PROBLEMS = [400, 403, 404];

const Authority = Type.Object({
  id: Text,
  sha256: Text,
  signs: Flag,
  certificate: Text,
  creationTime: Time,
  notBefore: Time,
  notAfter: Time,
});

/** State of the certificate authority of a zone, without its keys. */
export const WorkloadAuthority = Type.Object(
  {
    step: Type.Enum(['steady', 'trusting', 'retiring']),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'When the step began.' })),
    deadline: Type.Optional(Type.String({ format: 'date-time', description: 'While trusting: the wait ends then.' })),
    until: Type.Optional(
      Type.String({ format: 'date-time', description: 'While retiring: the old authority is trusted until then.' }),
    ),
    usedBy: Type.Optional(
      Type.Enum(['acks', 'deadline', 'force'], { description: 'While retiring: why the new one was used.' }),
    ),
    missing: Type.Object(
      { total: Integer, items: Type.Array(Text, { maxItems: 100 }) },
      {
        description: 'While trusting: who has not learned of the new authority; while retiring: who had not.',
      },
    ),
    authorities: Type.Array(Authority),
    order: Type.Optional(
      Type.Object(
        { type: Type.Enum(['rotate', 'force', 'abandon']), by: Text, at: Time },
        { description: 'The leader has not carried it out yet.' },
      ),
    ),
  },
  component('WorkloadAuthority'),
);
export type WorkloadAuthority = Value<typeof WorkloadAuthority>;

const answer = { description: 'The authority; never a key.', schema: WorkloadAuthority };

/** The certificate authority of the zone's workloads; 404 on a global, which has none. */
export const showWorkloadAuthority = operation({
  id: 'showWorkloadAuthority',
  method: 'GET',
  path: '/_ca',
  summary: "The certificate authority of the zone's workloads, and how a rotation of it stands",
  access: { verb: 'get', kinds: ['WorkloadAuthority'] },
  answer,
  problems: PROBLEMS,
});

/** Starts a rotation, forces its waiting step, or cancels it; without a body it starts one with the default deadline. */
export const rotateWorkloadAuthority = operation({
  id: 'rotateWorkloadAuthority',
  method: 'POST',
  path: '/_ca/rotation',
  summary: 'Begin a rotation of the certificate authority, force its next step, or give it up',
  access: { verb: 'create', kinds: ['WorkloadAuthority'] },
  body: {
    schema: Type.Object(
      {
        deadline: Validity({ default: '1h', description: 'How long proxies and other zones are waited for.' }),
        force: Type.Optional(
          Type.Boolean({ description: 'Nobody is waited for; a rotation that waits goes on at once.' }),
        ),
        abandon: Type.Optional(
          Type.Boolean({ description: 'Gives a rotation up whose new authority is not used yet; alone.' }),
        ),
      },
      component('AuthorityRotation', strict),
    ),
    example: { deadline: '1h' },
    optional: true,
  },
  answer,
  problems: [...PROBLEMS, 409, 413, 415, 422],
  audit: { kind: 'WorkloadAuthority', activity: 'rotate the certificate authority of workloads' },
});
