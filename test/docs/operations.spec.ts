import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATIONS, querySchema, type KindOperation, type Operation } from '@causeway/api';
import { coreKinds } from '@causeway/kinds';
import {
  PolicyServiceService,
  ResourceServiceService,
  NamingServiceService,
  RoutingServiceService,
} from '@causeway/proto-gen';
import type { Schema } from '@causeway/resources';

const PAGE = join(__dirname, '../../docs/reference/operations.md');

const HEAD = `# Operations of REST

Every operation, with the right that it needs and what it takes. Written by \`test/docs/operations.spec.ts\` of the definitions in
\`libs/api\`, from which the server makes its routes, its checks and \`GET /openapi.json\`, and our clients their calls. A kind stands for all that have
the operation; the document has each by itself. [REST](api.md) shows them at work.

Rights: \`public\` needs none; \`any\` some right, and what is found or written is checked by itself; a verb and kinds: that right, in the mesh
of the path where it has one.

| operation | right | query | body | answer | gRPC |
|---|---|---|---|---|---|
`;

/** One kind that has the operation stands for all. */
function asShown(operation: Operation | KindOperation): Operation {
  if ('id' in operation) return operation;
  const { kinds } = coreKinds;
  const having = kinds.filter((one) => operation.kinds(one, coreKinds));
  // Kinds of policies are declared; they are named and written as a MeshService is.
  const kind = [...having, ...kinds].find(({ name }) => name === 'MeshService' || having[0]?.name === name);
  if (!kind) throw new Error(`no kind has ${operation.path}`);
  return {
    ...operation,
    ...operation.of({ kind, name: kind.name, plural: kind.plural }),
    query: operation.query(kind),
  };
}

function rightText({ access }: Operation): string {
  if (typeof access === 'object') return `${access.verb} ${access.kinds.join(', ')}`;
  return { public: 'public', 'any-right': 'any', list: 'list or watch the kind', admin: 'administrator' }[access];
}

function queryText(operation: Operation): string {
  const { properties = {}, required = [] }: Schema = querySchema(operation);
  return Object.keys(properties)
    .map((name) => (required.includes(name) ? `**${name}**` : name))
    .join(', ');
}

function nameOf(schema: Schema & { readonly componentName?: string; readonly $ref?: string }): string {
  const { componentName, $ref, properties, items } = schema;
  if (componentName !== undefined) return componentName;
  if ($ref !== undefined) return $ref.replace(/^.*\//, '');
  if (items) return `list of ${nameOf(items)}`;
  if (properties?.['items']?.items && properties['total']) return `page of ${nameOf(properties['items'].items)}`;
  return properties
    ? `\`{${Object.keys(properties).join(', ')}}\``
    : JSON.stringify(schema.type ?? 'any').replaceAll('"', '');
}

function line(given: Operation | KindOperation): string {
  const operation = asShown(given);
  const { method, path, body, answer, grpc = '' } = operation;
  const cells = [
    `\`${method} ${path}\``,
    rightText(operation),
    queryText(operation),
    body ? nameOf(body.schema) : '',
    nameOf(answer.schema),
    grpc,
  ];
  return `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |').replaceAll('|  |', '| |');
}

describe('docs/reference/operations.md', () => {
  it('has every operation as it is defined', () => {
    const text = `${HEAD}${OPERATIONS.map(line).join('\n')}\n`;
    if (process.env['UPDATE_GOLDEN']) writeFileSync(PAGE, text);
    expect(readFileSync(PAGE, 'utf8')).toBe(text);
  });

  it('names each method of our gRPC API, and none that is not there', () => {
    const services = {
      ResourceService: ResourceServiceService,
      NamingService: NamingServiceService,
      RoutingService: RoutingServiceService,
      PolicyService: PolicyServiceService,
    };
    const there = Object.entries(services).flatMap(([service, methods]) =>
      Object.values(methods).map(({ path }) => path.replace(/^.*\//, `${service}.`)),
    );
    const named = new Set(OPERATIONS.flatMap(({ grpc }) => (grpc === undefined ? [] : [grpc])));
    // A list with watch=true.
    expect([...named, 'ResourceService.Watch'].sort()).toEqual([...there].sort());
  });
});
