import { compareText, identityKey, type Identity, type ResourceKey } from '@causeway/resources';
import type { Fold } from '../fold/fold';
import type { Level } from '../model/levels';
import type { Policy } from '../model/policy';
import { upperPolicies } from '../table/kind-policies';
import type { KindTable } from '../table/kind-table';
import { frontendNode, meshNode, namespaceNode, routeNode, type Node } from '../table/nodes';
import { formatPlace } from '../table/objects';
import type { PolicyTable } from '../table/policy-table';
import { foldPath, pathsAt } from './policy-path';
import { hasEffect } from './evaluate-policy';

/** The policies of one kind that affect an object, or a section of it: a port by its number, a rule, a listener. */
export interface AffectedBy {
  readonly kind: string;
  /** Absent for the object as a whole. */
  readonly section?: string;
  /** In the order of their namespaces and names; at least one. */
  readonly policies: readonly Policy[];
}

/** Levels at which kinds of objects, and their sections, take effect. */
const LEVELS: Readonly<Record<string, readonly Level[]>> = {
  Mesh: ['Mesh'],
  Namespace: ['Namespace'],
  Gateway: ['Gateway', 'Listener'],
  MeshService: ['Service', 'ServicePort', 'Backend', 'BackendPort'],
  MeshMultiZoneService: ['Service', 'ServicePort', 'Backend', 'BackendPort'],
  MeshExternalService: ['Backend', 'BackendPort'],
};
const ROUTE: readonly Level[] = ['Route', 'Rule'];

/** Returns the levels of a kind of object; empty for kinds that no policy affects. */
export const levelsOfKind = (kind: string): readonly Level[] => LEVELS[kind] ?? (kind.endsWith('Route') ? ROUTE : []);

/** Returns the keys of the policies that target an object or a section of it. Linear in the kinds and the sections. */
export function policyKeysOn(table: PolicyTable, object: Identity): ReadonlySet<ResourceKey> {
  const nodes = [...nodesOfObject(table, object)];
  const all = [...table.all()].filter(({ policies }) => policies.attachments.size > 0);
  return new Set(
    all.flatMap(({ policies }) => nodes.flatMap((node) => policies.attachments.at(node.key).map(({ key }) => key))),
  );
}

/**
 * Returns the policies that affect an object (T004-51): those that target it and have some effect anywhere, and those
 * with a value in force on a path that ends at it. Ordered by kind and section. Linear in the paths that end at it, and
 * in the policies there.
 */
export function affectedBy(table: PolicyTable, object: Identity): readonly AffectedBy[] {
  const own = levelsOfKind(object.kind);
  if (own.length === 0) return [];
  const found: AffectedBy[] = [];
  for (const kind of table.all()) {
    if (kind.policies.attachments.size === 0) continue;
    const sections = new Map<string, Map<string, Policy>>();
    const add = (section: string | undefined, policy: Policy): void => {
      const at = sections.get(section ?? '') ?? new Map<string, Policy>();
      sections.set(section ?? '', at.set(policy.key, policy));
    };
    for (const { key, section } of nodesOfObject(table, object))
      for (const policy of kind.policies.attachments.at(key)) if (hasEffect(kind, policy)) add(section, policy);
    if (own.includes(kind.definition.effective)) {
      for (const [section, fold] of foldsEndingAt(table, kind, object))
        for (const policy of fold.policies) if (fold.surviving(policy) > 0) add(section, policy);
    }
    for (const [section, policies] of sections) {
      const sorted = [...policies.values()].sort((a, b) => compareText(formatPolicyName(a), formatPolicyName(b)));
      found.push({ kind: kind.definition.kind, ...(section !== '' && { section }), policies: sorted });
    }
  }
  return found.sort((a, b) => compareText(a.kind, b.kind) || compareText(a.section ?? '', b.section ?? ''));
}

const formatPolicyName = ({ id }: Policy): string => `${id.namespace}/${id.name}`;

/** Returns the nodes of an object and its sections. */
function nodesOfObject(table: PolicyTable, object: Identity): readonly Node[] {
  const { targetIndex } = table;
  if (object.kind === 'Mesh') return [meshNode(object.name)];
  if (object.kind === 'Namespace') return listMeshes(table).map((mesh) => namespaceNode(mesh, object.name));
  const route = targetIndex.routes.route(identityKey(object));
  if (route) return [routeNode('Route', route), ...route.rules.map(({ name }) => routeNode('Rule', route, name))];
  const frontend = targetIndex.frontend(object);
  if (!frontend) return [];
  if (object.kind === 'Gateway') {
    const listeners = frontend.ports.map(({ name }) => frontendNode('Listener', frontend, name));
    return [frontendNode('Gateway', frontend), ...listeners];
  }
  return (['Service', 'Backend'] as const).flatMap((level) => [
    frontendNode(level, frontend),
    ...frontend.ports.map(({ port }) => frontendNode(`${level}Port`, frontend, port)),
  ]);
}

/** Yields the effective policies on the paths that end at an object, with the section at which each ends. */
function* foldsEndingAt(
  table: PolicyTable,
  kind: KindTable,
  object: Identity,
): Generator<readonly [section: string | undefined, fold: Fold]> {
  const { policies } = kind;
  if (object.kind === 'Mesh' || object.kind === 'Namespace') {
    const isMesh = object.kind === 'Mesh';
    for (const mesh of isMesh ? [object.name] : listMeshes(table)) {
      const place = { mesh, namespace: isMesh ? '' : object.name };
      const fold = policies.folds.of(upperPolicies(policies.attachments, place));
      if (fold) yield [undefined, fold];
    }
    return;
  }
  const key = identityKey(object);
  for (const path of pathsAt(kind, object, policies.attachments)) {
    const end = path.nodes.at(-1);
    const fold = end?.id && identityKey(end.id) === key ? foldPath(kind, path) : undefined;
    if (fold) yield [end?.section, fold];
  }
}

function listMeshes({ targetIndex }: PolicyTable): readonly string[] {
  return [...targetIndex.objects.in(formatPlace('Mesh', '', ''))].map(({ name }) => name);
}
