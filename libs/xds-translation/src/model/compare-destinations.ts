import { isDeepStrictEqual } from 'node:util';
import { ENDPOINT_FIELDS, NAME_FIELDS, type Destination } from './destination';

/** A destination before and after a change. */
interface ChangedDestination {
  readonly before?: Destination | undefined;
  readonly after?: Destination | undefined;
}

const endpointFields: ReadonlySet<string> = new Set(ENDPOINT_FIELDS);
const nameFields: ReadonlySet<string> = new Set(NAME_FIELDS);

/** Reports whether a change of a destination concerns more than its endpoints. */
export function hasOtherConfig(change: ChangedDestination): boolean {
  return differs(change, endpointFields);
}

/** Reports whether a change of a destination concerns more than its names. */
export function hasOtherUpstream(change: ChangedDestination): boolean {
  return differs(change, nameFields);
}

/** Compares field by field, because a change leaves most of them as they are. */
function differs({ before, after }: ChangedDestination, except: ReadonlySet<string>): boolean {
  if (!before || !after) return true;
  const was: Readonly<Record<string, unknown>> = { ...before };
  const is: Readonly<Record<string, unknown>> = { ...after };
  for (const field of new Set([...Object.keys(was), ...Object.keys(is)]))
    if (!except.has(field) && was[field] !== is[field] && !isDeepStrictEqual(was[field], is[field])) return true;
  return false;
}
