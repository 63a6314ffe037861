import { shortened } from '../violation';
import type { Kind } from './kind';

/**
 * API groups of which documents are accepted, with every version in use. A kind names its groups; any other group
 * belongs to another project, unless a MetaresourceDefinition declares kinds of it.
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

/** A group of which a kind's documents are. */
export interface AcceptedGroup {
  /** Empty for the core group. */
  readonly group: string;
  /** The one that is written first; none means every version, as of kinds that definitions declare: these know no versions. */
  readonly versions: readonly string[];
}

/** An `apiVersion` in its parts: `v1` is of the core group, whose name is empty. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** The form of a version: `v1`, `v1beta1`, `v1alpha2`. */
const VERSION = /^v[1-9][0-9]{0,3}((alpha|beta)[1-9][0-9]{0,3})?$/;

/** Splits an `apiVersion`. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const at = apiVersion.lastIndexOf('/');
  // Only an `apiVersion` without a slash is of the core group.
  return { group: at < 0 ? '' : apiVersion.slice(0, at) || '/', version: apiVersion.slice(at + 1) };
}

/** The group of a reference: a version behind it is tolerated and means nothing (T002-09, T004-05). */
export const bareGroup = (group: string): string => group.replace(/\/.*$/, '');

/** The groups of a kind, or of an alias of it, with their versions; the one that is written comes first. */
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

/** Whether documents of this group and version are of the kind. */
export function isOfGroup(kind: GroupedKind, { group, version }: GroupVersion): boolean {
  return listGroups(kind).some(
    (one) =>
      one.group === group && (one.versions.length === 0 ? VERSION.test(version) : one.versions.includes(version)),
  );
}

/** The accepted groups of kinds of one name, for people: `gateway.networking.k8s.io (v1, v1beta1)`. */
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
