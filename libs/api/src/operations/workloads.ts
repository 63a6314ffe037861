import { Type } from 'typebox';
import { operation } from '../operation';
import { OffsetPage } from '../parameters';
import { component, Flag, Page, strict, Text, Time, type Value } from '../schema';
import { DataplaneName } from '../schemas/named';

/** A host that has joined. */
export const Workload = Type.Object(
  {
    mesh: Text,
    namespace: Text,
    name: Text,
    id: Type.String({ description: 'Of the enrolment; its certificates carry it.' }),
    by: Type.Enum(['token', 'dataplane', 'upgrade', 'import'], { description: 'What granted it.' }),
    services: Type.Optional(
      Type.Array(Text, { description: 'What it may serve; absent: what its Dataplane says, which a user wrote.' }),
    ),
    workload: Type.Optional(Text),
    tokens: Type.Array(Text),
    group: Type.Optional(Text),
    since: Time,
    registered: Flag,
    confirmBefore: Type.Optional(
      Type.String({ format: 'date-time', description: 'After an import: it ends then unless it is confirmed.' }),
    ),
  },
  component('Workload', strict),
);
export type Workload = Value<typeof Workload>;

/** The hosts of a zone that have joined, in the namespaces whose hosts the caller may list. */
export const listWorkloads = operation({
  id: 'listWorkloads',
  method: 'GET',
  path: '/_workloads',
  summary: 'The machines of this zone that have joined',
  access: 'any-right',
  query: OffsetPage,
  answer: { description: 'A page of them.', schema: Page(Workload) },
  problems: [400, 403, 404],
});

const Name = Type.String({ minLength: 1, maxLength: 253 });
const workload = {
  mesh: Name,
  namespace: Type.Optional(Type.String({ minLength: 1, maxLength: 253, default: 'default' })),
  name: Name,
};

/** Rights and resources that a revocation ended, or would end. */
export const WorkloadRevocation = Type.Object(
  {
    mesh: Text,
    namespace: Text,
    name: Text,
    dryRun: Flag,
    services: Type.Array(Text),
    tokens: Type.Array(Text),
    newBundles: Type.Array(DataplaneName, { description: 'Dataplanes that joined with the same tokens.' }),
    otherZones: Type.Enum(['none', 'informed', 'cut off', 'unknown'], {
      description:
        'How they hear of it: none, there are no others; cut off, once this zone is connected to its global again; unknown, the replica that leads knows.',
    }),
    disconnectedZones: Type.Array(Text, {
      description:
        'Zones without a session, as far as the global has said by now: they act on it first thing when they are back.',
    }),
    kumaZones: Type.Array(Text, {
      description: 'Zones of Kuma: they know no revocation, and believe a certificate until it ends.',
    }),
  },
  component('WorkloadRevocationResult', strict),
);
export type WorkloadRevocation = Value<typeof WorkloadRevocation>;

/** Common fields of both writes: they require the right to revoke the workload in the body. */
const WRITE = { method: 'POST', access: 'any-right', problems: [400, 403, 404, 409, 413, 415, 422] } as const;
const example = { mesh: 'default', name: 'redis-1' };

/** Ends the enrolment of one host; with `dryRun` returns the effects of that. */
export const revokeWorkload = operation({
  ...WRITE,
  id: 'revokeWorkload',
  path: '/_workloads/revocations',
  summary: 'End what a machine was granted: its tokens, certificates, streams and endpoints, in every zone',
  body: {
    schema: Type.Object(
      {
        ...workload,
        dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Only say what would end.' })),
      },
      component('WorkloadRevocationOrder', strict),
    ),
    example,
  },
  answer: { description: 'What has ended.', schema: WorkloadRevocation },
  audit: { kind: 'Workload', activity: 'revoke a workload' },
});

/** Confirms an enrolment that came back by its certificate after an import. */
export const confirmWorkload = operation({
  ...WRITE,
  id: 'confirmWorkload',
  path: '/_workloads/confirmations',
  summary: 'Keep a machine that came back by its certificate after an import',
  body: { schema: Type.Object(workload, component('WorkloadOrder', strict)), example },
  answer: {
    description: 'It is confirmed.',
    schema: Type.Object({ mesh: Text, namespace: Text, name: Text }),
  },
  audit: { kind: 'Workload', activity: 'confirm a workload' },
});
