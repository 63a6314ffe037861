import { isJsonObject, type JsonObject, type Registry } from '@causeway/resources';
import { APPLY_SCHEMAS, applyPaths } from './apply-paths';
import { AUDIT_SCHEMAS, auditPaths } from './audit-paths';
import { backupPaths } from './backup-paths';
import { DISCOVERY_SCHEMAS, discoveryPaths } from './discovery-paths';
import { policiesPaths, policySchemas } from './policies-paths';
import { PROXY_SCHEMAS, proxiesPaths } from './proxies-paths';
import { kindPaths } from './kind-paths';
import { problemComponents, type OpenApiObject } from './schema-parts';
import { ROUTE_SCHEMAS, routesPaths } from './routes-paths';
import { kindSchemas } from './resource-schemas';
import { serverPaths } from './server-paths';
import { SYNC_SCHEMAS, syncPaths } from './sync-paths';
import { WORKLOAD_IDENTITY_SCHEMAS, workloadIdentityPaths } from './workload-identity-paths';
import { WORKLOAD_SCHEMAS, workloadsPaths } from './workloads-paths';
import { ZONE_ACCESS_SCHEMAS, zoneAccessPaths } from './zone-access-paths';
import { extractParameters } from './parameters';
import { SHARED_SCHEMAS } from './shared-schemas';

const DESCRIPTION = [
  'Bodies are JSON or YAML, in the Universal form shown here, or in the Kubernetes form (apiVersion, kind, metadata, spec).',
  'A plain name means the resource made on this control plane; `?zone=` names copies of other zones.',
].join(' ');

const OWN_SCHEMAS = [
  SHARED_SCHEMAS,
  APPLY_SCHEMAS,
  ZONE_ACCESS_SCHEMAS,
  WORKLOAD_IDENTITY_SCHEMAS,
  WORKLOAD_SCHEMAS,
  SYNC_SCHEMAS,
  AUDIT_SCHEMAS,
  PROXY_SCHEMAS,
  DISCOVERY_SCHEMAS,
  ROUTE_SCHEMAS,
];

/** The document as text; it is made when it is first asked for, and again where the kinds are others. */
export function openApiText(registry: Registry, version: string): () => string {
  let made: { readonly kinds: number; readonly text: string } | undefined;
  return () => {
    if (made?.kinds !== registry.version)
      made = { kinds: registry.version, text: JSON.stringify(openApiDocument(registry, version)) };
    return made.text;
  };
}

/** The OpenAPI 3.1 document of this server, made from the registry: a new kind is in it without another line. */
function openApiDocument(registry: Registry, version: string): JsonObject {
  const own = [
    serverPaths(registry),
    applyPaths(),
    zoneAccessPaths(),
    workloadIdentityPaths(),
    workloadsPaths(),
    syncPaths(),
    auditPaths(),
    backupPaths(),
    proxiesPaths(),
    discoveryPaths(),
    routesPaths(),
    policiesPaths(registry),
  ];
  const { paths, parameters } = extractParameters(asJson(merged([...own, ...registry.kinds.map(kindPaths)])));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [
      ...registry.kinds.map((kind) => ({
        name: kind.name,
        description: `${kind.shortName}, ${kind.scope === 'mesh' ? 'of a mesh' : 'of no mesh'}`,
      })),
      { name: 'Server', description: 'The control plane itself, and views over kinds' },
    ],
    security: [{ bearer: [] }],
    paths: withOpenOperations(paths),
    components: {
      parameters,
      schemas: asJson(merged([...OWN_SCHEMAS, policySchemas(registry), ...registry.kinds.map(kindSchemas)])),
      responses: asJson(problemComponents()),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'A user token of this mesh, a token of a trusted OIDC issuer, or the operator token of the control plane.',
        },
      },
    },
  };
}

/** Paths open to everybody: identity of the server, its API, its authority, and the identity of the caller. */
const OPEN: readonly string[] = ['/', '/openapi.json', '/kds/ca', '/rest/ca', '/who-am-i'];

function withOpenOperations(paths: JsonObject): JsonObject {
  const opened: Record<string, JsonObject> = {};
  for (const path of OPEN) {
    const item = paths[path];
    if (isJsonObject(item) && isJsonObject(item['get']))
      opened[path] = { ...item, get: { ...item['get'], security: [{}, { bearer: [] }] } };
  }
  return { ...paths, ...opened };
}

function merged(parts: readonly OpenApiObject[]): OpenApiObject {
  return Object.fromEntries(parts.flatMap((part) => Object.entries(part)));
}

/** Schemas carry functions of their library; what is left after a turn through text is what is served. */
function asJson(part: OpenApiObject): JsonObject {
  const value: unknown = JSON.parse(JSON.stringify(part));
  return isJsonObject(value) ? value : {};
}
