import {
  isComputedLabel,
  type Identity,
  type JsonObject,
  type Kind,
  type Labels,
  type Resource,
} from '@causeway/resources';
import type { DocumentDiff } from './batch';

/** The parts of a resource after a write. */
interface WrittenParts {
  readonly id: Identity;
  readonly labels: Labels;
  readonly spec: JsonObject;
}

/**
 * Returns the changes of a write, as users write documents: without computed labels and without fields that only the
 * control plane writes.
 */
export function documentDiff(kind: Kind, stored: Resource | undefined, after: WrittenParts): DocumentDiff {
  const hidden = kind.confidential;
  return {
    ...(stored ? { before: ownDocument(kind, stored, hidden ? CONFIDENTIAL : stored.spec) } : {}),
    after: ownDocument(kind, after, hidden ? CONFIDENTIAL_NEW : after.spec),
  };
}

const CONFIDENTIAL = { data: '(confidential)' };
const CONFIDENTIAL_NEW = { data: '(confidential, as in the document)' };

function ownDocument(kind: Kind, { id, labels }: Omit<WrittenParts, 'spec'>, spec: JsonObject): JsonObject {
  const own = Object.entries(labels).filter(([key]) => !isComputedLabel(key));
  return {
    type: kind.name,
    ...(kind.scope === 'mesh' ? { mesh: id.mesh } : {}),
    ...(kind.namespaced ? { namespace: id.namespace } : {}),
    name: id.name,
    ...(own.length === 0 ? {} : { labels: Object.fromEntries(own) }),
    spec,
  };
}
