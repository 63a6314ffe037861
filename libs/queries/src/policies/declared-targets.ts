import type { DeclaredTarget } from '@causeway/api';
import type { FoundTarget } from '@causeway/policies';
import type { AnswerWriter } from './policy-answers';

/** Maximum number of found objects that are listed per reference; the others are counted. */
export const MAX_FOUND = 256;

/** Returns a policy's reference in the form of responses. */
export function declaredAnswer({ ref, permitted, found }: FoundTarget, writer: AnswerWriter): DeclaredTarget {
  const { group, kind, namespace, name, selector, sectionName } = ref;
  const nodes = [...found.values()].flat();
  const reason = permitted ? (nodes.length > 0 ? undefined : 'TargetNotFound') : 'RefNotPermitted';
  return {
    group,
    kind,
    namespace,
    ...(name === undefined ? {} : { name }),
    ...(selector === undefined ? {} : { selector }),
    ...(sectionName === undefined ? {} : { sectionName }),
    ...(reason === undefined ? {} : { reason }),
    found: nodes.slice(0, MAX_FOUND).map((node) => writer.node(node)),
    foundTotal: nodes.length,
  };
}
