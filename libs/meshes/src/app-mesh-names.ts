import { suffixProblem } from '@causeway/appmesh';
import { MeshNaming } from '@causeway/kinds';
import {
  compareClaims,
  hasLabels,
  parseGenerator,
  renderTemplate,
  templateRequirements,
  type ClaimRank,
  type ParsedGenerator,
} from '@causeway/naming';
import { isJsonArray, Label, ownZone, type ControlPlane, type Identity, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/** Value of the label `causeway.io/made-with` of a MeshNaming that preserves the names in use at the upgrade. */
export const KEPT_AT_UPGRADE = 'Upgrade';

/**
 * Returns the suffixes that one stored MeshNaming gives. Stored values are checked again: invalid suffixes are left
 * out.
 */
export function suffixesIn({ spec }: Pick<Resource, 'spec'>): readonly string[] {
  const { suffixes } = spec;
  if (!isJsonArray(suffixes)) return [];
  return suffixes.filter((one) => typeof one === 'string').filter((one) => suffixProblem(one) === undefined);
}

/** Reports whether a MeshNaming applies at a control plane: the global's everywhere, a zone's in that zone. */
export const namesHere = ({ zone }: Identity, cp: ControlPlane): boolean => zone === '' || zone === ownZone(cp);

/**
 * Returns the suffixes under which a mesh names its VirtualServices at this control plane (docs/reference/app-mesh.md,
 * Names). Linear in the MeshNamings.
 */
export function meshSuffixes(index: Pick<IndexReader, 'ofKind'>, mesh: string, cp: ControlPlane): ReadonlySet<string> {
  const suffixes = new Set<string>();
  for (const naming of index.ofKind(MeshNaming.name)) {
    if (naming.id.mesh !== mesh || !namesHere(naming.id, cp)) continue;
    for (const suffix of suffixesIn(naming)) suffixes.add(suffix);
  }
  return suffixes;
}

/** Claim on a hostname by a generator whose name the owner of the service does not choose. */
export type Giver = ClaimRank;

/**
 * Returns the strongest claim on a hostname by a generator other than those of App Mesh names; undefined if none claims
 * it. On the global: the claim that some zone would have. Linear in the generators; reads services only where a
 * template can produce the name.
 */
export function otherGiver(
  index: Pick<IndexReader, 'ofKind'>,
  { mesh, hostname }: { readonly mesh: string; readonly hostname: string },
  cp: ControlPlane,
): Giver | undefined {
  let best: Giver | undefined;
  for (const stored of index.ofKind('HostnameGenerator')) {
    const generator = parseGenerator(stored, stored.id.zone !== '');
    if (generator.byOwner || !canGive(generator, hostname)) continue;
    for (const service of given(index, generator, { mesh, hostname }, cp)) {
      const claim = { generator, service };
      if (!best || compareClaims(claim, best) < 0) best = claim;
    }
  }
  return best;
}

function canGive({ template }: ParsedGenerator, hostname: string): boolean {
  return template !== undefined && templateRequirements(template, hostname) !== undefined;
}

function* given(
  index: Pick<IndexReader, 'ofKind'>,
  { selectors, template, id: { zone } }: ParsedGenerator,
  { mesh, hostname }: { readonly mesh: string; readonly hostname: string },
  cp: ControlPlane,
): Generator<Resource> {
  if (!template) return;
  for (const { kind, required } of selectors) {
    // Each zone answers differently whether a service was made in it.
    const wanted = cp.role === 'zone' ? required : required.filter(({ key }) => key !== Label.origin);
    for (const service of index.ofKind(kind)) {
      if (service.id.mesh !== mesh || !hasLabels(wanted, service)) continue;
      const rendered = renderTemplate(template, service, cp.role === 'zone' ? cp.zone : zone);
      if (rendered.ok && rendered.hostname === hostname) yield service;
    }
  }
}
