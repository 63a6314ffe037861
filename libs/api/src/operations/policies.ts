import { targetKinds } from '@causeway/policies';
import { Type } from 'typebox';
import { kindOperation, operation } from '../operation';
import { addressParameters, Freshness, OffsetPage, TextParameter, WordParameter } from '../parameters';
import { AnyObject, component, Flag, Integer, Page, Text, type Value } from '../schema';
import { documentRef } from '../schemas/documents';

/** State of a policy at a node where policies of its kind compete. */
const State = Type.Enum(['Enforced', 'PartiallyEnforced', 'Overridden']);

const nameFields = { group: Text, kind: Text, mesh: Text, zone: Text, namespace: Text, name: Text };
/** The name and kind of a policy, which every reader of an affected resource may see, without its content (T004-41). */
export const PolicyName = Type.Object(
  nameFields,
  component('PolicyName', {
    description: 'A policy by its name; the policy itself is shown to those who may read it.',
  }),
);
export type PolicyName = Value<typeof PolicyName>;

const nodeFields = {
  level: Text,
  kind: Type.Optional(Text),
  zone: Type.Optional(Text),
  namespace: Type.Optional(Text),
  name: Type.Optional(Text),
  section: Type.Optional(Text),
};
/** A node of a path. */
export const PathNode = Type.Object(nodeFields, {
  description: 'What the caller may not read is shown by level and kind alone.',
});
export type PathNode = Value<typeof PathNode>;

const path = { context: Text, path: Type.Array(PathNode) };
const Field = Type.Object({ field: Text, policy: Type.Object(nameFields), strategy: Text });
const effective = { effective: AnyObject, representation: Type.Optional(Text), fields: Type.Array(Field) };
/** Effective policy: the spec, and the policy that set each of its values. */
export const EffectivePolicy = Type.Object(effective);
export type EffectivePolicy = Value<typeof EffectivePolicy>;
const enforcement = { strategy: Text, state: State, enforced: Type.Array(Text), superseded: Type.Array(Text) };

/** One policy among those of its kind on a path. */
export const PolicyOnPath = Type.Object({ policy: PolicyName, ...enforcement });
export type PolicyOnPath = Value<typeof PolicyOnPath>;

/** Effective policy of one kind on one path. */
export const PathPolicies = Type.Object({
  group: Text,
  kind: Text,
  ...path,
  ...effective,
  policies: Type.Array(PolicyOnPath),
});
export type PathPolicies = Value<typeof PathPolicies>;

/** Identity of the affected resource. */
const Affected = Type.Optional(
  Type.Partial(Type.Object({ kind: Text, mesh: Text, zone: Text, namespace: Text, name: Text })),
);

export const AffectingPolicies = Page(PathPolicies, { resource: Affected }, component('AffectingPolicies'));
export type AffectingPolicies = Value<typeof AffectingPolicies>;

/** One path that contains a policy. */
export const PolicyScope = Type.Object({
  ...path,
  ...enforcement,
  effective: AnyObject,
  others: Type.Array(Type.Object({ policy: PolicyName, strategy: Text, state: State })),
});
export type PolicyScope = Value<typeof PolicyScope>;

/** A target that a policy names, with the matching objects. */
export const DeclaredTarget = Type.Object({
  group: Text,
  kind: Text,
  namespace: Text,
  name: Type.Optional(Text),
  selector: Type.Optional(AnyObject),
  sectionName: Type.Optional(Text),
  reason: Type.Optional(Type.Enum(['TargetNotFound', 'RefNotPermitted'])),
  found: Type.Array(PathNode),
  foundTotal: Integer,
});
export type DeclaredTarget = Value<typeof DeclaredTarget>;

export const PolicyScopes = Page(
  PolicyScope,
  {
    policy: Type.Optional(PolicyName),
    count: Type.Optional(Integer),
    declared: Type.Optional(Type.Array(DeclaredTarget)),
  },
  component('PolicyScopes'),
);
export type PolicyScopes = Value<typeof PolicyScopes>;

/** A path that a change would affect; without `before` or `after` it has no policy at that time. */
export const ImpactOnPath = Type.Object({
  ...path,
  before: Type.Optional(EffectivePolicy),
  after: Type.Optional(EffectivePolicy),
});
export type ImpactOnPath = Value<typeof ImpactOnPath>;

export const PolicyImpact = Page(
  ImpactOnPath,
  {
    policy: Type.Optional(PolicyName),
    operation: Type.Optional(Type.Enum(['create', 'update', 'delete'])),
  },
  component('PolicyImpact'),
);
export type PolicyImpact = Value<typeof PolicyImpact>;

/** The graph of targets of a mesh. */
export const Topology = Type.Object(
  {
    mesh: Text,
    nodes: Type.Array(Type.Object({ id: Integer, ...nodeFields, policies: Type.Array(PolicyName) })),
    edges: Type.Array(Type.Object({ from: Integer, to: Integer })),
    truncated: Flag,
  },
  component('Topology', { description: 'The first 2,000 nodes; truncated says whether there are more.' }),
);
export type Topology = Value<typeof Topology>;

const affectingParameters = {
  kind: TextParameter('Only policies of this kind.', 63),
  representation: WordParameter(['string'], 'string: each effective spec also as JSON text.'),
  ...OffsetPage,
  ...Freshness,
};

const PATH = '/meshes/{mesh}/{plural}/{name}';
const READS = [400, 403, 404];

/** Every policy that affects a resource; requires only the right to read the resource. */
export const listAffectingPolicies = kindOperation({
  method: 'GET',
  path: `${PATH}/_policies`,
  aliases: ['/meshes/{name}/_policies', '/{plural}/{name}/_policies'],
  grpc: 'PolicyService.ListPolicies',
  access: 'any-right',
  kinds: ({ name }) => targetKinds.includes(name),
  of: ({ kind }) => ({
    id: `listPoliciesOf${kind.name}`,
    summary: `The policies that affect a ${kind.name}, what they come to and whose each value is`,
    description: `Needs the right to read the ${kind.name} alone.`,
  }),
  answer: { description: 'Path by path.', schema: AffectingPolicies },
  query: (kind) => ({ ...addressParameters(kind), ...affectingParameters }),
  problems: READS,
});

/** The policies that affect a virtual kind, which is not stored. */
export const listPoliciesOfVirtual = operation({
  id: 'listPoliciesOfVirtual',
  method: 'GET',
  path: '/meshes/{mesh}/_virtual/{group}/{kind}/{name}/_policies',
  summary: 'The policies that affect an object that is stored nowhere, of a virtual kind',
  description: 'Needs the right to read its Namespace.',
  grpc: 'PolicyService.ListPolicies',
  access: 'any-right',
  query: { namespace: TextParameter('Its namespace; "default" where absent.', 63), ...affectingParameters },
  answer: { description: 'By kind.', schema: AffectingPolicies },
  problems: READS,
});

/** Scopes of a policy, with the values that are in force there. */
export const listPolicyScopes = kindOperation({
  method: 'GET',
  path: `${PATH}/_scopes`,
  grpc: 'PolicyService.ListScopes',
  access: 'any-right',
  kinds: ({ name }, registry) => registry.isDeclared(name),
  of: ({ kind }) => ({
    id: `listScopesOf${kind.name}`,
    summary: `Where a ${kind.name} counts`,
  }),
  answer: { description: 'Path by path.', schema: PolicyScopes },
  query: (kind) => ({ ...addressParameters(kind), ...OffsetPage, ...Freshness }),
  problems: READS,
});

const impactAnswer = { description: 'The paths that would change.', schema: PolicyImpact };

/** Changes if a policy were deleted. */
export const getPolicyImpact = kindOperation({
  method: 'GET',
  path: `${PATH}/_impact`,
  grpc: 'PolicyService.GetImpact',
  access: 'any-right',
  kinds: ({ name }, registry) => registry.isDeclared(name),
  of: ({ kind }) => ({
    id: `getImpactOf${kind.name}`,
    summary: `What would change if a ${kind.name} were deleted`,
  }),
  answer: impactAnswer,
  query: (kind) => ({
    op: Type.Enum(['delete'], {
      type: 'string',
      description: 'What is done to the policy.',
      hint: 'what a write would change is asked with POST and the document',
      example: 'delete',
    }),
    ...addressParameters(kind),
    ...OffsetPage,
    ...Freshness,
  }),
  problems: READS,
});

/** Changes if the policy in the body were written; admission checks it like a write, and nothing is written. */
export const previewPolicyImpact = kindOperation({
  method: 'POST',
  path: `${PATH}/_impact`,
  grpc: 'PolicyService.GetImpact',
  access: 'any-right',
  kinds: ({ name }, registry) => registry.isDeclared(name),
  of: ({ kind }) => ({
    id: `previewImpactOf${kind.name}`,
    summary: `What would change if a ${kind.name} were written so; nothing is written`,
    body: { schema: documentRef(kind) },
  }),
  answer: impactAnswer,
  query: (kind) => ({ ...addressParameters(kind), ...OffsetPage }),
  problems: [400, 403, 404, 409, 413, 415, 422],
});

/** The graph of targets, as JSON or in DOT. */
export const getTopology = operation({
  id: 'getTopology',
  method: 'GET',
  path: '/meshes/{mesh}/topology',
  summary: 'The graph of what policies can name and what inherits from what',
  grpc: 'PolicyService.GetTopology',
  access: 'any-right',
  query: {
    root: TextParameter('Only what stands on the paths of KIND/NAME or KIND/NAMESPACE/NAME.', 512),
    zone: TextParameter('The zone where the root was made; empty means the global.'),
    format: WordParameter(['json', 'dot'], 'The form of the answer.', { default: 'json' }),
  },
  answer: {
    description: 'Nodes and edges, or text in DOT.',
    schema: Topology,
    also: { 'text/vnd.graphviz': Text },
  },
  problems: READS,
});
