import type { Kind } from '@causeway/resources';
import type { RestQueryParameter } from '../http/query-reader';
import { addressParameters } from '../read/read-parameters';

const DRY_RUN: RestQueryParameter = {
  name: 'dryRun',
  description: 'Check everything and write nothing.',
  schema: { type: 'boolean', default: false },
};

const SEEN_FROM: RestQueryParameter = {
  name: 'seenFrom',
  description: 'With dryRun: the zone in which to look at what the write would lead to; needed on the global.',
  schema: { type: 'string', maxLength: 253 },
};

/** Parameters of PUT, PATCH and DELETE. */
export function writeParameters(kind: Kind): readonly RestQueryParameter[] {
  return [...addressParameters(kind), DRY_RUN, SEEN_FROM];
}
