import { isJsonObject, jsonEqual, type JsonObject, type Resource } from '@causeway/resources';
import type { Member, ReachableFrontends } from './model';

/** Field of a Dataplane's status that names its VirtualNode. */
const FIELD = 'virtualNode';

/** VirtualNode to which a Dataplane belongs, and the backends that it may therefore call. */
export interface NodeBinding {
  readonly namespace: string;
  readonly name: string;
  /** MeshServices of the VirtualServices that are backends of the node (T003-35). */
  readonly backends: ReachableFrontends;
}

/** Returns the binding in a Dataplane's status; undefined if it is absent or malformed. */
export function readBinding({ status }: Pick<Resource, 'status'>): NodeBinding | undefined {
  const held = status?.[FIELD];
  if (!isJsonObject(held)) return undefined;
  const { namespace, name, backends } = held;
  if (typeof namespace !== 'string' || typeof name !== 'string' || !Array.isArray(backends)) return undefined;
  const frontends = backends.flatMap((each) => {
    const [space, service] = isJsonObject(each) ? [each['namespace'], each['name']] : [];
    return typeof space === 'string' && typeof service === 'string' ? [{ namespace: space, name: service }] : [];
  });
  return { namespace, name, backends: frontends };
}

/** Returns a stored Dataplane as a member. It stays with the node in its status (T003-33). */
export function toMember(dataplane: Pick<Resource, 'id' | 'labels' | 'status'>): Member {
  const { id, labels } = dataplane;
  const bound = readBinding(dataplane);
  return { id, labels, ...(bound && { boundTo: `${bound.namespace}/${bound.name}` }) };
}

/** Returns the status of a Dataplane with this binding, or without one; the same object if nothing changes. */
export function withBinding(status: JsonObject | undefined, binding: NodeBinding | undefined): JsonObject | undefined {
  const { [FIELD]: held, ...others } = status ?? {};
  const wanted = binding && {
    namespace: binding.namespace,
    name: binding.name,
    backends: binding.backends.map(({ namespace, name }) => ({ namespace, name })),
  };
  if (wanted === undefined) return held === undefined ? status : others;
  return held !== undefined && jsonEqual(held, wanted) ? status : { ...others, [FIELD]: wanted };
}
