import type { Identity } from '@causeway/resources';
import type { Frontend } from '@causeway/routing';
import type { Level } from '../model/levels';

/** A node to which policies attach: an object, a section of one, or a virtual object. */
export interface Node {
  readonly level: Level | 'Virtual';
  readonly key: string;
  /** The node's namespace, whose policies count as its own; empty for a Mesh. */
  readonly namespace: string;
  /** The object; undefined for nodes without a stored object: implicit routes, namespaces, virtual kinds. */
  readonly id?: Identity;
  /** The section: a port's number, a rule, a listener. */
  readonly section?: string;
}

export const meshNode = (mesh: string): Node => ({ level: 'Mesh', key: meshKey(mesh), namespace: '' });
const meshKey = (mesh: string): string => `mesh ${mesh}`;

export function namespaceNode(mesh: string, namespace: string): Node {
  return { level: 'Namespace', key: namespaceKey(mesh, namespace), namespace };
}
const namespaceKey = (mesh: string, namespace: string): string => `namespace ${mesh}/${namespace}`;

/** Returns the mesh of the node of a Mesh or Namespace. */
export function meshOfNode({ key }: Pick<Node, 'key'>): string {
  return (key.split(' ')[1] ?? '').split('/')[0] ?? '';
}

/** Levels of a service or Gateway to which policies attach. */
export type FrontendLevel = 'Gateway' | 'Listener' | 'Service' | 'ServicePort' | 'Backend' | 'BackendPort';

/** Returns the node of a service or Gateway, or with `section` of a port or listener. */
export function frontendNode(level: FrontendLevel, { key, id, namespace }: Frontend, section?: string | number): Node {
  const node = { level, key: sectionKey(level, key, section), namespace, id };
  return section === undefined ? node : { ...node, section: String(section) };
}

/** Returns the node of a route, or with `section` of a rule by its name. */
export function routeNode(
  level: 'Route' | 'Rule',
  { key, id }: { readonly key: string; readonly id: Identity },
  section?: string,
): Node {
  const node = { level, key: sectionKey(level, key, section), namespace: id.namespace, id };
  return section === undefined ? node : { ...node, section };
}

/** Returns the node in place of a route if a service has none at a port. Policies cannot attach to it. */
export function implicitNode(level: 'Route' | 'Rule', { key, namespace }: Frontend, port: number): Node {
  return { level, key: `implicit ${level} ${key} ${port}`, namespace };
}

/** Returns the key of an object's node at a level. */
export function sectionKey(level: Level, key: string, section?: string | number): string {
  return section === undefined ? `${level} ${key}` : `${level} ${key} ${section}`;
}

/** Returns the node of a virtual object; it exists if a policy names it (T004-11). */
export function virtualNode(
  mesh: string,
  namespace: string,
  group: string,
  name: { readonly kind: string; readonly name: string },
): Node {
  return {
    level: 'Virtual',
    key: `virtual ${mesh}/${namespace}/${group}/${name.kind}/${name.name}`,
    namespace,
    id: { kind: name.kind, mesh, zone: '', namespace, name: name.name },
  };
}
