import type { Identity } from '@causeway/resources';
import type { VirtualRef, SourceKind } from './model';

/** Returns the name at App Mesh for a spec without one (rows T003-05 to T003-07). */
export function deriveAwsName(kind: SourceKind, { name, namespace }: Pick<Identity, 'name' | 'namespace'>): string {
  return kind === 'VirtualService' ? `${name}.${namespace}` : `${name}_${namespace}`;
}

/** Returns the name of a node's MeshService in its namespace; a service's is `frontendOfVirtualService`. */
export const nodeServiceName = (node: string): string => `vn-${node}`;

/** Returns the namespace and name of a reference, literally (T003-11). */
export function resolveRef(
  { namespace }: Identity,
  ref: VirtualRef,
): { readonly namespace: string; readonly name: string } {
  return { namespace: ref.namespace || namespace, name: ref.name };
}

/** Formats a resource as in conditions: `VirtualNode a/v1`. */
export const describe = (kind: SourceKind, { namespace, name }: Pick<Identity, 'namespace' | 'name'>): string =>
  `${kind} ${namespace}/${name}`;
