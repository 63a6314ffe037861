import type { Kind } from '@causeway/resources';
import type { RestQueryParameter } from '../http/query-reader';
import { PAGE_PARAMETERS, selectionParameters } from './list-query';

/** What every read takes. */
export const FRESHNESS: RestQueryParameter = {
  name: 'minRevision',
  description: 'Wait until this replica has seen this revision (the header Causeway-Revision of a write).',
  schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
};

/** Which form of document reads answer with. */
export const FORMAT: RestQueryParameter = {
  name: 'format',
  description: 'The form of the document.',
  schema: { type: 'string', enum: ['universal', 'k8s', 'kubernetes'], default: 'universal' },
};

const WATCH: readonly RestQueryParameter[] = [
  {
    name: 'watch',
    description: 'Answer with server-sent events instead of a list, and go on.',
    schema: { type: 'boolean', default: false },
  },
  {
    name: 'since',
    description: 'With watch: only what changed after this revision; without it everything comes first.',
    schema: { type: 'string', maxLength: 64, pattern: '^([A-Za-z0-9-]+\\.)?[0-9]{1,16}$' },
  },
];

/** Which resource a name means when several zones or namespaces have it (design.md §1). */
export function addressParameters(kind: Kind): readonly RestQueryParameter[] {
  const namespace: RestQueryParameter = {
    name: 'namespace',
    description: 'The namespace of the resource; "default" when left out.',
    schema: { type: 'string', maxLength: 63 },
  };
  const zone: RestQueryParameter = {
    name: 'zone',
    description: 'The zone where the resource was made; empty means the global. Left out: made on this control plane.',
    schema: { type: 'string', maxLength: 253 },
  };
  return [...(kind.namespaced ? [namespace] : []), ...(kind.sync.zoneInIdentity ? [zone] : [])];
}

/** Parameters of a list of `kind`. */
export function listParameters(kind: Kind): readonly RestQueryParameter[] {
  return [...selectionParameters(kind), ...PAGE_PARAMETERS, FORMAT, FRESHNESS, ...WATCH];
}

/** Parameters of a list of `kind` that is watched. */
export function watchParameters(kind: Kind): readonly RestQueryParameter[] {
  return [...selectionParameters(kind), FRESHNESS, ...WATCH];
}

/** Parameters of a GET of one. */
export function getParameters(kind: Kind): readonly RestQueryParameter[] {
  return [...addressParameters(kind), FORMAT, FRESHNESS];
}
