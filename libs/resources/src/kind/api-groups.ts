import { shortened } from '../violation';
import type { Kind } from './kind';

/**
 * Accepted API groups, with every version in use. A kind names its groups; any other group belongs to another project,
 * unless a MetaresourceDefinition declares kinds in it.
 */
export const apiGroups = {
  '': ['v1'],
  'kuma.io': ['v1alpha1'],
  'gateway.networking.k8s.io': ['v1', 'v1beta1', 'v1alpha3', 'v1alpha2'],
  'gateway.networking.x-k8s.io': ['v1alpha1'],
  'appmesh.k8s.aws': ['v1beta2', 'v1beta1'],
  'causeway.io': ['v1alpha1'],
  'policies.causeway.io': ['v1alpha1'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A group that documents of a kind may have. */
export interface AcceptedGroup {
  /** Empty for the core group. */
  readonly group: string;
  /** Versions, the preferred one first; empty means every version, as for declared kinds, which have no versions. */
  readonly versions: readonly string[];
}

/** The parts of an `apiVersion`; `v1` belongs to the core group, whose name is empty. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** The form of a version: `v1`, `v1beta1`, `v1alpha2`. */
const VERSION = /^v[1-9][0-9]{0,3}((alpha|beta)[1-9][0-9]{0,3})?$/;

/** Splits an `apiVersion`. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const at = apiVersion.lastIndexOf('/');
  // Only an `apiVersion` without a slash belongs to the core group.
  return { group: at < 0 ? '' : apiVersion.slice(0, at) || '/', version: apiVersion.slice(at + 1) };
}

/** Returns the group of a reference without a version, which is accepted and ignored (T002-09, T004-05). */
export const bareGroup = (group: string): string => group.replace(/\/.*$/, '');

/** Returns the groups of a kind, or of an alias of it, with their versions; the preferred one first. */
export function listGroups({ apiVersion, otherGroups = [], declaredBy = '' }: GroupedKind): readonly AcceptedGroup[] {
  const { group, version } = parseApiVersion(apiVersion);
  const known = listVersions(group);
  const isOpen = declaredBy !== '' && known.length === 0;
  return [
    { group, versions: isOpen ? [] : [version, ...known.filter((one) => one !== version)] },
    ...otherGroups.map((other) => ({ group: other, versions: listVersions(other) })),
  ];
}

/** Fields of a kind or an alias that determine its groups. */
export type GroupedKind = Pick<Kind, 'apiVersion'> & Partial<Pick<Kind, 'otherGroups' | 'declaredBy'>>;

/** Whether this group and version belong to the kind. */
export function isOfGroup(kind: GroupedKind, { group, version }: GroupVersion): boolean {
  return listGroups(kind).some(
    (one) =>
      one.group === group && (one.versions.length === 0 ? VERSION.test(version) : one.versions.includes(version)),
  );
}

/** Formats the accepted groups of kinds with one name for people: `gateway.networking.k8s.io (v1, v1beta1)`. */
export function describeGroups(kinds: readonly GroupedKind[]): string {
  const texts = kinds
    .flatMap((kind) => listGroups(kind))
    .map(({ group, versions }) => {
      const name = group === '' ? 'the core group' : group;
      return versions.length === 0 ? `${name} (any version)` : `${name} (${versions.join(', ')})`;
    });
  return [...new Set(texts)].map((text) => shortened(text, 300)).join(' or ');
}

function listVersions(group: string): readonly string[] {
  const versions: Readonly<Record<string, readonly string[]>> = apiGroups;
  return Object.hasOwn(apiGroups, group) ? (versions[group] ?? []) : [];
}
