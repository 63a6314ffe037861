import type { Kind } from '@causeway/resources';
import type { QueryParameter } from '../http/query';
import { addressParameters } from '../read/read-parameters';

const DRY_RUN: QueryParameter = {
  name: 'dryRun',
  description: 'Check everything and write nothing.',
  schema: { type: 'boolean', default: false },
};

/** Parameters of PUT, PATCH and DELETE. */
export function writeParameters(kind: Kind): readonly QueryParameter[] {
  return [...addressParameters(kind), DRY_RUN];
}
