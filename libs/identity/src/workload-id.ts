import type { DataplaneResource } from '@causeway/dataplanes';
import type { MeshIdentity } from '@causeway/kinds';
import {
  DEFAULT_TRUST_DOMAIN,
  hasOwnPath,
  parseSpiffePathTemplate,
  parseTrustDomainTemplate,
  presetSpiffePath,
  spiffePathProblem,
  trustDomainProblem,
  type SpiffePathForm,
  type SpiffeTemplatePart,
} from '@causeway/naming';
import {
  compareOrders,
  compareText,
  effectiveLabel,
  FieldPath,
  hasEffectiveLabels,
  Label,
  shortened,
  type Resource,
  type SpecOf,
  type Violation,
} from '@causeway/resources';

/** Stored MeshIdentity. */
export type MeshIdentityResource = Resource<SpecOf<typeof MeshIdentity>>;
/** Parts of a Dataplane that form its SPIFFE id. */
type IdentifiedWorkload = Pick<DataplaneResource, 'id' | 'labels'>;

/**
 * Forms of ids for MeshIdentities without a path: the one that certificates are signed for, and all that are trusted.
 */
export interface PresetPath {
  readonly signs: SpiffePathForm;
  readonly accepts: readonly SpiffePathForm[];
}

/** SPIFFE id of a workload, in whole and in its parts. */
interface SpiffeId {
  /** `spiffe://<trustDomain><path>` */
  readonly uri: string;
  readonly trustDomain: string;
  readonly path: string;
}

/** SPIFFE id of a Dataplane, or why its MeshIdentity gives it none. */
export type WorkloadId =
  { readonly ok: true; readonly id: SpiffeId } | { readonly ok: false; readonly violations: readonly Violation[] };

/** Maximum length of a SPIFFE id (SPIFFE-ID §2.3), in bytes. */
const MAX_SPIFFE_ID_LENGTH = 2_048;

/** Returns the workload of a Dataplane: its label `kuma.io/workload`, else its name. */
export function readWorkload({ id, labels }: IdentifiedWorkload): string {
  return labels[Label.workload] ?? id.name;
}

/** Returns whether the workload comes from the label `kuma.io/workload`, which any writer of the Dataplane chooses. */
export function isWorkloadLabelled({ labels }: IdentifiedWorkload): boolean {
  return labels[Label.workload] !== undefined;
}

/**
 * Returns the MeshIdentity that selects a Dataplane: with the most labels, then the oldest, then the first by name; one
 * created in a zone applies there only. Independent of the order of `identities`.
 */
export function selectIdentity(
  dataplane: IdentifiedWorkload,
  identities: Iterable<MeshIdentityResource>,
): MeshIdentityResource | undefined {
  let best: MeshIdentityResource | undefined;
  for (const identity of identities) {
    if (selects(identity, dataplane) && (best === undefined || compareIdentity(identity, best) < 0)) best = identity;
  }
  return best;
}

/** Compares two MeshIdentities that select one Dataplane; the one that applies comes first. */
export function compareIdentity(a: MeshIdentityResource, b: MeshIdentityResource): number {
  return (
    countLabels(b) - countLabels(a) ||
    compareOrders(a.creationOrder, b.creationOrder) ||
    compareText(a.id.name, b.id.name) ||
    compareText(a.id.zone, b.id.zone)
  );
}

/** Returns the number of labels that a Dataplane needs for a MeshIdentity to select it. */
export function countLabels({ spec }: MeshIdentityResource): number {
  return Object.keys(spec.selector?.dataplane?.matchLabels ?? {}).length;
}

/** Returns whether a MeshIdentity selects a Dataplane; without a selector it selects none. */
function selects({ id, spec }: MeshIdentityResource, dataplane: IdentifiedWorkload): boolean {
  const selector = spec.selector?.dataplane;
  if (!selector || id.mesh !== dataplane.id.mesh || (id.zone !== '' && id.zone !== dataplane.id.zone)) return false;
  return hasEffectiveLabels(dataplane, selector.matchLabels ?? {});
}

/**
 * Returns the SPIFFE id that `identity` gives to a Dataplane (docs/design.md §1, MeshIdentity); `form`: that of an
 * identity without a path. Collects all violations.
 */
export function resolveSpiffeId(
  dataplane: IdentifiedWorkload,
  identity: MeshIdentityResource,
  form: SpiffePathForm,
): WorkloadId {
  const { trustDomain, path } = identity.spec.spiffeID ?? {};
  const at = FieldPath.at(`MeshIdentity ${identity.id.name}`).field('spec').field('spiffeID');
  const [atDomain, atPath] = [at.field('trustDomain'), at.field('path')];
  const domain = render(parseTrustDomainTemplate(trustDomain ?? DEFAULT_TRUST_DOMAIN), dataplane, atDomain);
  const template = path ?? presetSpiffePath(form, dataplane.id.namespace);
  const rest = render(parseSpiffePathTemplate(template), dataplane, atPath);
  const violations = [
    ...(domain.ok
      ? toViolations(domain.text, trustDomainProblem(domain.text), 'trust domain', atDomain)
      : [domain.violation]),
    ...(rest.ok
      ? toViolations(rest.text, spiffePathProblem(rest.text), 'path of a SPIFFE id', atPath)
      : [rest.violation]),
  ];
  if (!domain.ok || !rest.ok || violations.length > 0) return { ok: false, violations };
  if (rest.text === EGRESS_PATH)
    return {
      ok: false,
      violations: [atPath.violation(`gives ${EGRESS_PATH}, the path of zone egresses`, 'not-allowed')],
    };
  const uri = `spiffe://${domain.text}${rest.text}`;
  if (uri.length > MAX_SPIFFE_ID_LENGTH) {
    const reason = `gives a SPIFFE id of ${uri.length} characters, ${MAX_SPIFFE_ID_LENGTH} are allowed`;
    return { ok: false, violations: [at.violation(reason, 'too-long')] };
  }
  return { ok: true, id: { uri, trustDomain: domain.text, path: rest.text } };
}

/** Returns the ids of a Dataplane: that of new certificates first, then a former one that may still be presented. */
export function listSpiffeIds(
  dataplane: IdentifiedWorkload,
  identity: MeshIdentityResource,
  { signs, accepts }: PresetPath,
): readonly string[] {
  const forms = [signs, ...accepts.filter((form) => form !== signs)];
  return [
    ...new Set(
      forms.flatMap((form) => {
        const found = resolveSpiffeId(dataplane, identity, form);
        return found.ok ? [found.id.uri] : [];
      }),
    ),
  ];
}

/** Returns whether the id of a Dataplane depends on the form of preset paths. */
export function isIdByPreset({ id }: Pick<IdentifiedWorkload, 'id'>, { spec }: MeshIdentityResource): boolean {
  return spec.spiffeID?.path === undefined && hasOwnPath(id.namespace);
}

/** Returns the trust domain that a MeshIdentity gives to the workloads of a zone, or why it gives none. */
export function resolveTrustDomain(
  { id, spec }: MeshIdentityResource,
  zone: string,
): { readonly ok: true; readonly trustDomain: string } | { readonly ok: false; readonly violation: Violation } {
  const at = FieldPath.at(`MeshIdentity ${id.name}`).field('spec').field('spiffeID').field('trustDomain');
  const parsed = parseTrustDomainTemplate(spec.spiffeID?.trustDomain ?? DEFAULT_TRUST_DOMAIN);
  // Templates of trust domains use only mesh and zone, so any workload of the zone gives the same result.
  const anyone = { id: { ...id, zone, name: '', namespace: '' }, labels: {} };
  const domain = render(parsed, anyone, at);
  if (!domain.ok) return domain;
  const [violation] = toViolations(domain.text, trustDomainProblem(domain.text), 'trust domain', at);
  return violation ? { ok: false, violation } : { ok: true, trustDomain: domain.text };
}

/** Path of the SPIFFE ids of zone egresses; no workload has it. */
export const EGRESS_PATH = '/zone-egress';

/** Returns whether certificates are signed by the zone's own authority. */
export function isSignedHere({ type, bundled }: MeshIdentityResource['spec']['provider']): boolean {
  return type === 'Bundled' && !bundled?.ca;
}

function toViolations(text: string, problem: string | undefined, what: string, at: FieldPath): readonly Violation[] {
  if (problem === undefined) return [];
  return [at.violation(`gives no ${what}: ${problem}; got ${JSON.stringify(shortened(text, 300))}`, 'wrong-form')];
}

type Rendered = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly violation: Violation };

function render(
  parsed: ReturnType<typeof parseSpiffePathTemplate>,
  dataplane: IdentifiedWorkload,
  at: FieldPath,
): Rendered {
  if (!parsed.ok) return { ok: false, violation: at.violation(parsed.reason, 'wrong-form') };
  let text = '';
  for (const part of parsed.parts) {
    const value = resolvePart(part, dataplane);
    if (value === undefined) {
      const key = part.type === 'label' ? part.key : '';
      const reason = `reads label "${key}", which Dataplane ${dataplane.id.name} has not`;
      return { ok: false, violation: at.violation(reason, 'required') };
    }
    text += value;
  }
  return { ok: true, text };
}

function resolvePart(part: SpiffeTemplatePart, dataplane: IdentifiedWorkload): string | undefined {
  switch (part.type) {
    case 'literal':
      return part.text;
    case 'label':
      return effectiveLabel(dataplane, part.key);
    case 'variable':
      return resolveVariable(part.variable, dataplane);
  }
}

function resolveVariable(
  variable: Extract<SpiffeTemplatePart, { readonly type: 'variable' }>['variable'],
  dataplane: IdentifiedWorkload,
): string {
  switch (variable) {
    case 'Mesh':
      return dataplane.id.mesh;
    case 'Zone':
      return dataplane.id.zone;
    case 'Namespace':
      return dataplane.id.namespace;
    case 'Workload':
      return readWorkload(dataplane);
  }
}
