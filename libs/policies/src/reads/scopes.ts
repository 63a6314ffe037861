import type { Policy } from '../model/policy';
import type { KindTable } from '../table/kind-table';
import { pathsBelowNodes, type PolicyPath } from './policy-path';

/**
 * The paths on which a policy stands and counts, each once: of what it names, and of all below (T004-14). Undefined for a path below it
 * where it does not count, so that a caller can stop. Linear in the paths below what it names.
 */
export function* findScopes(kind: KindTable, policy: Policy): Generator<PolicyPath | undefined> {
  const { attachments } = kind.policies;
  for (const path of pathsBelowNodes(kind, attachments.listNodes(policy.key), attachments)) {
    yield path.policies.some(({ key }) => key === policy.key) ? path : undefined;
  }
}
