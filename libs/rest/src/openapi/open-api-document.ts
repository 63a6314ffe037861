import type { JsonObject, Registry } from '@causeway/resources';
import { extractParameters } from './extract-parameters';
import { operationPaths } from './operation-paths';
import { kindSchemas } from './resource-schemas';
import { Components, problemComponents } from './schema-parts';

const DESCRIPTION = [
  'Bodies are JSON or YAML, in the Universal form shown here, or in the Kubernetes form (apiVersion, kind, metadata, spec).',
  'A plain name means the resource made on this control plane; `?zone=` names copies of other zones.',
].join(' ');

/** Returns the document as text; cached until the kinds change. */
export function openApiText(registry: Registry, version: string): () => string {
  let made: { readonly kinds: number; readonly text: string } | undefined;
  return () => {
    if (made?.kinds !== registry.version)
      made = { kinds: registry.version, text: JSON.stringify(openApiDocument(registry, version)) };
    return made.text;
  };
}

/** Builds the OpenAPI 3.1 document of this server from the registry: new kinds are included without code here. */
function openApiDocument(registry: Registry, version: string): JsonObject {
  const components = new Components();
  const { paths, parameters } = extractParameters(components.json(operationPaths(registry)));
  const ofKinds = registry.kinds.flatMap((kind) => Object.entries(components.json(kindSchemas(kind))));
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
    paths,
    components: {
      parameters,
      schemas: { ...components.schemas(), ...Object.fromEntries(ofKinds) },
      responses: components.json(problemComponents()),
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
