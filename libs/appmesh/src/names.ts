import type { Identity } from '@causeway/resources';
import type { VirtualRef, SourceKind } from './model';

/** The name at App Mesh that holds where a spec gives none (rows T003-05 to T003-07). */
export function derivedAwsName(kind: SourceKind, { name, namespace }: Pick<Identity, 'name' | 'namespace'>): string {
  return kind === 'VirtualService' ? `${name}.${namespace}` : `${name}_${namespace}`;
}

/** The MeshService of a node stands in its namespace under this name; that of a service under `frontendOfVirtualService`. */
export const nodeServiceName = (node: string): string => `vn-${node}`;

/** Returns the namespace and name of a reference, literally (T003-11). */
export function resolvedRef(
  { namespace }: Identity,
  ref: VirtualRef,
): { readonly namespace: string; readonly name: string } {
  return { namespace: ref.namespace || namespace, name: ref.name };
}

/** `VirtualNode a/v1`, the way conditions name it. */
export const describe = (kind: SourceKind, { namespace, name }: Pick<Identity, 'namespace' | 'name'>): string =>
  `${kind} ${namespace}/${name}`;
