import { HOSTS_PARAMETERS, TARGETS_PARAMETERS } from '../requests/query-parameters';
import { queryParameters } from './parameters';
import { jsonContent, list, object, problemResponses, schema, text, textMap, type OpenApiObject } from './schema-parts';

/** Schemas of what programs without a proxy read. */
export const DISCOVERY_SCHEMAS: OpenApiObject = {
  PrometheusTarget: object(
    { targets: { ...list(text), minItems: 1, maxItems: 1 }, labels: textMap },
    ['targets', 'labels'],
    { description: "An entry of Prometheus' http_sd: one instance and port.", additionalProperties: false },
  ),
};

const UNCHANGED = { description: 'The client has it: If-None-Match names its ETag.' };

/** Services in the formats of programs that know nothing of meshes. */
export function discoveryPaths(): OpenApiObject {
  return {
    '/discovery/prometheus': {
      get: {
        operationId: 'discoverTargets',
        tags: ['Server'],
        summary: "The instances of this zone in the form of Prometheus' http_sd",
        parameters: queryParameters(TARGETS_PARAMETERS),
        responses: {
          200: jsonContent('The targets.', list(schema('PrometheusTarget'))),
          304: UNCHANGED,
          ...problemResponses(400, 403, 404),
        },
      },
    },
    '/discovery/hosts': {
      get: {
        operationId: 'discoverHosts',
        tags: ['Server'],
        summary: 'The hostnames of a mesh with their virtual IPs, in the form of /etc/hosts',
        parameters: queryParameters(HOSTS_PARAMETERS),
        responses: {
          200: { description: 'A comment, then lines.', content: { 'text/plain': { schema: text } } },
          304: UNCHANGED,
          ...problemResponses(400, 403, 404),
        },
      },
    },
  };
}
