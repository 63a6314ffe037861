import { targetKinds } from '@causeway/policies';
import type { Kind, Registry } from '@causeway/resources';
import { BODY_TYPES } from '../http/body-decode';
import {
  addressParameters,
  AFFECTING_PARAMETERS,
  FRESHNESS,
  IMPACT_OPERATION,
  OFFSET_PAGE_PARAMETERS,
  TOPOLOGY_PARAMETERS,
  VIRTUAL_PARAMETERS,
} from '../requests/query-parameters';
import { MESH, NAME, queryParameters } from './parameters';
import { documentSchema } from './resource-schemas';
import { flag, integer, jsonContent, list, object, page, problemResponses, schema, text } from './schema-parts';
import type { OpenApiObject } from './schema-parts';

const state = { enum: ['Enforced', 'PartiallyEnforced', 'Overridden'] };
const spec: OpenApiObject = { type: 'object' };
const nameFields = ['group', 'kind', 'mesh', 'zone', 'namespace', 'name'];
const policyName = object(Object.fromEntries(nameFields.map((name) => [name, text])), nameFields);
const nodeFields = { level: text, kind: text, zone: text, namespace: text, name: text, section: text };
const node = object(nodeFields, ['level'], {
  description: 'What the caller may not read is shown by level and kind alone.',
});
const where = { context: text, path: list(node) };
const field = object({ field: text, policy: policyName, strategy: text }, ['field', 'policy', 'strategy']);
const effective = { effective: spec, representation: text, fields: list(field) };
const survival = { strategy: text, state, enforced: list(text), superseded: list(text) };
const survivalFields = ['strategy', 'state', 'enforced', 'superseded'];
const effectiveSide = object(effective, ['effective', 'fields']);
const declared = object(
  {
    group: text,
    kind: text,
    namespace: text,
    name: text,
    selector: spec,
    sectionName: text,
    reason: { enum: ['TargetNotFound', 'RefNotPermitted'] },
    found: list(node),
    foundTotal: integer,
  },
  ['group', 'kind', 'namespace', 'found', 'foundTotal'],
);

const OF_TARGETS: OpenApiObject = {
  PolicyName: {
    ...policyName,
    description: 'A policy by its name; the policy itself is shown to those who may read it.',
  },
  AffectingPolicies: page(
    object(
      {
        group: text,
        kind: text,
        ...where,
        ...effective,
        policies: list(object({ policy: schema('PolicyName'), ...survival }, ['policy', ...survivalFields])),
      },
      ['group', 'kind', 'context', 'path', 'effective', 'fields', 'policies'],
    ),
    { resource: object({ kind: text, mesh: text, zone: text, namespace: text, name: text }) },
  ),
  Topology: object(
    {
      mesh: text,
      nodes: list(
        object({ id: integer, ...nodeFields, policies: list(schema('PolicyName')) }, ['id', 'level', 'policies']),
      ),
      edges: list(object({ from: integer, to: integer }, ['from', 'to'])),
      truncated: flag,
    },
    ['mesh', 'nodes', 'edges', 'truncated'],
    { description: 'The first 2,000 nodes; truncated says whether there are more.' },
  ),
};

/** Paths about a policy itself. */
const OF_POLICIES: OpenApiObject = {
  PolicyScopes: page(
    object(
      {
        ...where,
        ...survival,
        effective: spec,
        others: list(object({ policy: schema('PolicyName'), strategy: text, state }, ['policy', 'strategy', 'state'])),
      },
      ['context', 'path', ...survivalFields, 'effective', 'others'],
    ),
    { policy: schema('PolicyName'), count: integer, declared: list(declared) },
  ),
  PolicyImpact: page(object({ ...where, before: effectiveSide, after: effectiveSide }, ['context', 'path']), {
    policy: schema('PolicyName'),
    operation: { enum: ['create', 'update', 'delete'] },
  }),
};

/** The schemas of answers about policies; those of policies themselves where there are kinds of them. */
export function policySchemas(registry: Registry): OpenApiObject {
  const some = registry.kinds.some(({ name }) => registry.isDeclared(name));
  return some ? { ...OF_TARGETS, ...OF_POLICIES } : OF_TARGETS;
}

const READS = [400, 403, 404];

/** The paths of questions about policies: those of each kind that policies can name, and those of each kind of policy. */
export function policiesPaths(registry: Registry): OpenApiObject {
  const targets = registry.kinds.filter(({ name }) => targetKinds.includes(name));
  const policies = registry.kinds.filter(({ name }) => registry.isDeclared(name));
  return Object.fromEntries(
    [
      ...targets.map((kind) => affectingPath(kind)),
      ...policies.flatMap((kind) => [scopesPath(kind), impactPath(kind)]),
      virtualPath(),
      topologyPath(),
    ].map(([path, item]) => [path, item]),
  );
}

type PathItem = readonly [path: string, item: OpenApiObject];

const onePath = ({ scope, plural }: Kind): string => `${scope === 'mesh' ? '/meshes/{mesh}' : ''}/${plural}/{name}`;
const inPath = ({ scope }: Kind): OpenApiObject[] => [...(scope === 'mesh' ? [MESH] : []), NAME];

function affectingPath(kind: Kind): PathItem {
  const get = {
    operationId: `listPoliciesOf${kind.name}`,
    tags: [kind.name],
    summary: `The policies that affect a ${kind.name}, what they come to and whose each value is`,
    description: `Needs the right to read the ${kind.name} alone.`,
    parameters: queryParameters([...addressParameters(kind), ...AFFECTING_PARAMETERS]),
    responses: { 200: jsonContent('Path by path.', schema('AffectingPolicies')), ...problemResponses(...READS) },
  };
  return [`${onePath(kind)}/_policies`, { parameters: inPath(kind), get }];
}

function scopesPath(kind: Kind): PathItem {
  const get = {
    operationId: `listScopesOf${kind.name}`,
    tags: [kind.name],
    summary: `Where a ${kind.name} counts`,
    parameters: queryParameters([...addressParameters(kind), ...OFFSET_PAGE_PARAMETERS, FRESHNESS]),
    responses: { 200: jsonContent('Path by path.', schema('PolicyScopes')), ...problemResponses(...READS) },
  };
  return [`${onePath(kind)}/_scopes`, { parameters: inPath(kind), get }];
}

function impactPath(kind: Kind): PathItem {
  const media = { schema: schema(documentSchema(kind)) };
  const answer = jsonContent('The paths that would change.', schema('PolicyImpact'));
  return [
    `${onePath(kind)}/_impact`,
    {
      parameters: inPath(kind),
      get: {
        operationId: `getImpactOf${kind.name}`,
        tags: [kind.name],
        summary: `What would change if a ${kind.name} were deleted`,
        parameters: queryParameters([
          IMPACT_OPERATION,
          ...addressParameters(kind),
          ...OFFSET_PAGE_PARAMETERS,
          FRESHNESS,
        ]),
        responses: { 200: answer, ...problemResponses(...READS) },
      },
      post: {
        operationId: `previewImpactOf${kind.name}`,
        tags: [kind.name],
        summary: `What would change if a ${kind.name} were written so; nothing is written`,
        parameters: queryParameters([...addressParameters(kind), ...OFFSET_PAGE_PARAMETERS]),
        requestBody: { required: true, content: { [BODY_TYPES.json[0]]: media, [BODY_TYPES.yaml[0]]: media } },
        responses: { 200: answer, ...problemResponses(400, 403, 404, 409, 413, 415, 422) },
      },
    },
  ];
}

function virtualPath(): PathItem {
  const part = (name: string, example: string): OpenApiObject => ({
    name,
    in: 'path',
    required: true,
    schema: { ...text, minLength: 1 },
    example,
  });
  const get = {
    operationId: 'listPoliciesOfVirtual',
    tags: ['Server'],
    summary: 'The policies that affect an object that is stored nowhere, of a virtual kind',
    description: 'Needs the right to read its Namespace.',
    parameters: queryParameters(VIRTUAL_PARAMETERS),
    responses: { 200: jsonContent('By kind.', schema('AffectingPolicies')), ...problemResponses(...READS) },
  };
  const parameters = [MESH, part('group', 'networking.example.com'), part('kind', 'ExternalService'), NAME];
  return ['/meshes/{mesh}/_virtual/{group}/{kind}/{name}/_policies', { parameters, get }];
}

function topologyPath(): PathItem {
  const answer = jsonContent('Nodes and edges, or text in DOT.', schema('Topology'));
  const get = {
    operationId: 'getTopology',
    tags: ['Server'],
    summary: 'The graph of what policies can name and what inherits from what',
    parameters: [MESH, ...queryParameters(TOPOLOGY_PARAMETERS)],
    responses: {
      200: { ...answer, content: { ...contentOf(answer), 'text/vnd.graphviz': { schema: text } } },
      ...problemResponses(...READS),
    },
  };
  return ['/meshes/{mesh}/topology', { get }];
}

function contentOf({ content }: OpenApiObject): object {
  return typeof content === 'object' && content !== null ? content : {};
}
