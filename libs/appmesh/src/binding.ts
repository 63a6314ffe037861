import { isJsonObject, jsonEqual, type JsonObject, type Resource } from '@causeway/resources';
import type { Member, ReachableFrontends } from './model';

/** The field of a Dataplane's status that says to which VirtualNode it belongs. */
const FIELD = 'virtualNode';

/** To which VirtualNode a Dataplane belongs, and what it may call for that reason. */
export interface NodeBinding {
  readonly namespace: string;
  readonly name: string;
  /** MeshServices of the VirtualServices that are the backends of the node (T003-35). */
  readonly backends: ReachableFrontends;
}

/** The binding that a Dataplane's status holds; undefined where there is none, or what stands there is none. */
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

/** A stored Dataplane as nodes select it. It stays with the node that its status names (T003-33). */
export function toMember(dataplane: Pick<Resource, 'id' | 'labels' | 'status'>): Member {
  const { id, labels } = dataplane;
  const bound = readBinding(dataplane);
  return { id, labels, ...(bound && { boundTo: `${bound.namespace}/${bound.name}` }) };
}

/** The status of a Dataplane with this binding, or none; the same object where it has that already. */
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
