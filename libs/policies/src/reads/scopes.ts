import type { Policy } from '../model/policy';
import type { KindTable } from '../table/kind-table';
import { pathsBelowNodes, type PolicyPath } from './policy-path';

/**
 * Yields the paths on which a policy applies, each once: those of its targets and all below (T004-14). Yields undefined
 * for a path on which it does not apply, so that the caller can stop. Linear in the paths below its targets.
 */
export function* findScopes(kind: KindTable, policy: Policy): Generator<PolicyPath | undefined> {
  const { attachments } = kind.policies;
  for (const path of pathsBelowNodes(kind, attachments.listNodes(policy.key), attachments)) {
    yield path.policies.some(({ key }) => key === policy.key) ? path : undefined;
  }
}
