import type { DoctorCheckName, Finding } from '@causeway/api';
import { quarantineCommand } from '@causeway/admission';
import { foreignReferences } from '@causeway/kinds';
import type { ReaperHold } from '@causeway/controllers';
import { findChangingIds, enrolledDataplane, findOldCredential } from '@causeway/identity';
import { Enrolment, IdentityPathState, MeshNaming } from '@causeway/kinds';
import { KEPT_AT_UPGRADE, suffixesIn, type Meshes } from '@causeway/meshes';
import { AccessPolicy, namespacedIds, type ChangingIds } from '@causeway/policies';
import {
  FieldPath,
  isJsonArray,
  isJsonObject,
  isMadeHere,
  Label,
  labelValue,
  type ControlPlane,
  type JsonObject,
  type JsonValue,
  type Kind,
  type Registry,
  type Resource,
} from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { routeKinds } from '@causeway/routing';
import { inboundViolation } from '@causeway/sync';

/** One check of the control plane. Each step of the iterable checks one item; it yields undefined if nothing is wrong. */
export interface DoctorCheck {
  readonly name: DoctorCheckName;
  findings(): Iterable<Finding | undefined>;
}

/** A Zone and its insight. */
export interface ZoneWithInsight {
  readonly zone: Resource;
  readonly insight: JsonObject;
}

/** Inputs of the checks. */
export interface DoctorInput {
  readonly registry: Registry;
  readonly cp: ControlPlane;
  readonly index: IndexReader;
  readonly meshes: Meshes;
  readonly zones: readonly ZoneWithInsight[];
  /** Present while a mass expiry of leases is being held back (docs/reference/leases.md). */
  readonly leaseHold?: ReaperHold | undefined;
}

/** The status of a condition that reports a problem, by the type of the condition. */
const BAD_CONDITIONS: Readonly<Record<string, { readonly status: string; readonly advice: string }>> = {
  Held: { status: 'True', advice: 'confirm the new incarnation of its zone, or wait: causeway zones' },
  Accepted: {
    status: 'False',
    advice: 'correct what parametersRef names; until then the Mesh has the default settings',
  },
  MembershipConflict: {
    status: 'True',
    advice:
      'change the labels of its Namespace or the namespaceSelectors so that its own mesh alone selects it, or make it anew',
  },
  MeshMissing: {
    status: 'True',
    advice: 'make the Mesh (a foreign one: make it anew as ours), or delete the resource where it was made',
  },
  UnsupportedByKuma: { status: 'True', advice: 'change it as the message says, or let no Kuma zone need it' },
  CertificatesDropped: {
    status: 'True',
    advice: 'replace the certificates that the message names where the MeshTrust was made',
  },
  UsersKept: { status: 'True', advice: 'list in its usedBy the resources that use the Secret: docs/guides/keys.md' },
  ResolvedRefs: { status: 'False', advice: 'correct what the message names: docs/guides/external-services.md' },
  ClientKeyAtClients: { status: 'True', advice: 'start a ZoneEgress in this zone before the next upgrade' },
  TrustRefused: { status: 'True', advice: 'give the MeshTrust a trust domain of its zone, or remove the other one' },
  RejectedByProxy: { status: 'True', advice: 'change what the message names, or update the proxy: causeway proxies' },
  BreaksEnvoyRules: { status: 'True', advice: 'change what the message names; its proxy goes without it until then' },
  VIPAllocated: { status: 'False', advice: 'widen the address range of its kind: CAUSEWAY_VIP_RANGE_…' },
  DataplanesAgree: { status: 'False', advice: 'give the Dataplanes of the service the same ports' },
  'causeway.io/MembershipConflict': {
    status: 'True',
    advice: 'change a selector of the VirtualNodes so that each Dataplane has one; until then it stays with its first',
  },
  'causeway.io/NotNamed': {
    status: 'True',
    advice: 'a mesh-operator sets a suffix that covers the name (MeshNaming), or make it anew with another awsName',
  },
  'causeway.io/NameTaken': { status: 'True', advice: 'delete what the message names, or give the source another name' },
};

/** Returns the checks of stored resources, in the order of the report. */
export function doctorChecks(input: DoctorInput): readonly DoctorCheck[] {
  return [
    { name: 'rules', findings: () => checkRules(input) },
    { name: 'references', findings: () => checkReferences(input) },
    { name: 'conditions', findings: () => checkConditions(input) },
    { name: 'claims', findings: () => zoneFacts(input, doubtfulClaim) },
    { name: 'stores', findings: () => zoneFacts(input, refusedStore) },
    { name: 'incarnations', findings: () => zoneFacts(input, newIncarnation) },
    { name: 'rejections', findings: () => rejections(input) },
    { name: 'lost', findings: () => zoneFacts(input, lostZone) },
    { name: 'quarantine', findings: () => quarantined(input) },
    { name: 'mesh', findings: () => [checkExpectedMesh(input)] },
    { name: 'leases', findings: () => [checkHeldLeases(input)] },
    { name: 'names', findings: () => checkKeptNames(input) },
    { name: 'enrolments', findings: () => checkEnrolments(input) },
    { name: 'identities', findings: () => identities(input) },
  ];
}

/** Checks the Mesh that is created at the start (rows T000-20, T000-22). */
function checkExpectedMesh({ cp, meshes }: DoctorInput): Finding | undefined {
  const { expectedName: name } = meshes.owner;
  const mismatch = meshes.mismatch();
  if (mismatch) {
    const what = `the Mesh "${name}" has the controller "${mismatch.controllerName}", this is "${mismatch.ownName}"`;
    return { what: short(what), advice: 'delete the Mesh and restart, or set CAUSEWAY_MESH_NAME to another name' };
  }
  const isMadeElsewhere = cp.role === 'zone' && cp.federated;
  if (isMadeElsewhere || meshes.state(name)?.resource) return undefined;
  return { what: `there is no Mesh "${name}"`, advice: 'make it, or restart: each new leader makes it' };
}

/** Reports that many agents disappeared at once and their Dataplanes are kept. */
function checkHeldLeases({ leaseHold }: DoctorInput): Finding | undefined {
  if (!leaseHold) return undefined;
  const { since, expired, total } = leaseHold;
  const what = `${expired} of ${total} leases have expired, and none of them ends since ${new Date(since).toISOString()}`;
  const advice = 'look at the network of the machines; where their agents are gone for good: causeway leases release';
  return { what, advice };
}

/** Reports which App Mesh names were preserved when suffixes were introduced; conditions report the others. */
function* checkKeptNames({ cp, index }: DoctorInput): Iterable<Finding | undefined> {
  for (const naming of index.ofKind(MeshNaming.name)) {
    const isKept = isMadeHere(naming, cp) && labelValue(naming.labels, Label.madeWith) === KEPT_AT_UPGRADE;
    if (!isKept) yield undefined;
    else {
      const what = `keeps the names at App Mesh that stood at the upgrade: those under ${suffixesIn(naming).join(', ')}`;
      const command = `causeway label meshnaming/${naming.id.name} ${Label.madeWith}- --mesh ${naming.id.mesh}`;
      yield found(naming, what, `remove the names that services must not have; if all are right: ${command}`);
    }
  }
}

/** Reports hosts that still use a credential from before enrolments, and hosts that came back with their certificate after an import. */
function* checkEnrolments({ cp, index }: DoctorInput): Iterable<Finding | undefined> {
  for (const enrolment of index.ofKind(Enrolment.name)) {
    if (!Enrolment.is(enrolment) || !isMadeHere(enrolment, cp)) {
      yield undefined;
      continue;
    }
    const { id, spec } = enrolment;
    const dataplane = { ...enrolment, id: enrolledDataplane(id) };
    const old = findOldCredential(enrolment);
    if (old) {
      const what = `its machine shows a credential from before enrolments, valid for ${old.services.join(', ') || 'no service'} only`;
      yield found(dataplane, what, `give it a new bundle: ${old.command}`);
    } else if (spec.confirmBefore !== undefined) {
      const what = `came back with its certificate after an import; that is accepted until ${new Date(spec.confirmBefore).toISOString()}`;
      const place = `--mesh ${id.mesh}${id.namespace === 'default' ? '' : ` --namespace ${id.namespace}`}`;
      yield found(dataplane, what, `if the machine is one of yours: causeway workloads confirm ${id.name} ${place}`);
    } else yield undefined;
  }
}

function* identities(input: DoctorInput): Iterable<Finding | undefined> {
  yield* checkSharedIds(input);
  yield* checkFormerIds(input);
}

/** Reports SPIFFE ids that workloads of several namespaces share, in every zone that reports them. */
function* checkSharedIds({ index }: DoctorInput): Iterable<Finding | undefined> {
  for (const state of index.ofKind(IdentityPathState.name)) {
    const { mesh, zone } = state.id;
    for (const { id, namespaces } of (IdentityPathState.is(state) && state.spec.shared) || []) {
      const what = `zone ${zone}, mesh ${mesh}: ${id} is the id of workloads in namespaces ${namespaces.join(', ')}: rules by namespace or service match neither`;
      const advice = `let ids have namespaces (IdentityPath: docs/guides/workload-identity.md), or give one of them another label ${Label.workload}`;
      yield { what: short(what), advice };
    }
    yield undefined;
  }
}

/** Reports settings with a SPIFFE id that workloads in namespaces have only until the change of the id format is complete. */
function* checkFormerIds({ index, cp }: DoctorInput): Iterable<Finding | undefined> {
  const changing = new Map<string, readonly ChangingIds[]>();
  const here = cp.role === 'zone' ? cp.zone : '';
  for (const policy of index.ofKind(AccessPolicy.kind)) {
    const { mesh } = policy.id;
    const ids = changing.get(mesh) ?? findChangingIds(index, mesh, here);
    changing.set(mesh, ids);
    const named = ids.length === 0 ? [] : listNamedIds(policy.spec).filter((id) => namespacedIds(id, ids).length > 0);
    const [first, ...others] = named;
    if (first === undefined) yield undefined;
    else {
      const more = others.length > 0 ? ` (and ${others.length} more)` : '';
      const what = `names ${first}${more}: outside of namespace default workloads show it only until the form of ids has changed`;
      yield found(policy, what, 'name the ids with the namespace too: spiffe://DOMAIN/ns/NAMESPACE/workload/WORKLOAD');
    }
  }
}

/** Returns the SPIFFE ids that an AccessPolicy names anywhere, each once. */
function listNamedIds(value: JsonValue | undefined): readonly string[] {
  if (isJsonArray(value)) return [...new Set(value.flatMap(listNamedIds))];
  if (!isJsonObject(value)) return [];
  const { spiffeId } = value;
  const own = isJsonObject(spiffeId) && typeof spiffeId['value'] === 'string' ? [spiffeId['value']] : [];
  return [...new Set([...own, ...Object.values(value).flatMap(listNamedIds)])];
}

function* checkRules({ registry, index }: DoctorInput): Iterable<Finding | undefined> {
  for (const kind of registry.kinds) {
    for (const resource of index.ofKind(kind.name)) yield brokenRule(kind, resource);
  }
}

function brokenRule(kind: Kind, resource: Resource): Finding | undefined {
  const { id, origin } = resource;
  // A kind's rules are not run on a resource that exceeds the kind's bounds: they could take very long.
  const fault = inboundViolation(kind, { ...resource, revision: origin.revision });
  const judged = fault === undefined ? kind.check(resource.spec, FieldPath.at('spec')) : undefined;
  const broken = [...kind.checkName(id.name, FieldPath.at('name')), ...(judged?.first ?? [])];
  const [first] = broken;
  const reason = fault ?? (first && `${first.field}: ${first.reason}`);
  if (reason === undefined) return undefined;
  const others = fault === undefined ? broken.length + (judged ? judged.total - judged.first.length : 0) - 1 : 0;
  // A reason may quote the value of a secret.
  const what = kind.confidential ? 'it breaks a rule of its kind' : reason;
  const more = others > 0 ? ` (and ${others} more)` : '';
  const there = id.zone === '' ? 'change it' : `change it in zone ${id.zone}, or: ${quarantineCommand(id)}`;
  return found(resource, what + more, there);
}

/** Kinds with references by group and kind. */
const REFERRING: readonly string[] = [...routeKinds, 'ReferenceGrant'];

/** Reports stored references to kinds of other projects: they resolve to nothing. */
function* checkReferences({ index }: DoctorInput): Iterable<Finding | undefined> {
  for (const kind of REFERRING) {
    for (const resource of index.ofKind(kind)) {
      const [first, ...others] = foreignReferences(resource.spec);
      const more = others.length > 0 ? ` (and ${others.length} more)` : '';
      yield first === undefined
        ? undefined
        : found(resource, first + more, 'name a group and kind that are known here, or delete it');
    }
  }
}

function* checkConditions({ registry, index }: DoctorInput): Iterable<Finding | undefined> {
  for (const kind of registry.kinds) {
    for (const resource of index.ofKind(kind.name)) yield* troubles(resource);
  }
}

function* troubles(resource: Resource): Iterable<Finding | undefined> {
  const stored = resource.status?.['conditions'];
  yield undefined;
  if (!isJsonArray(stored)) return;
  for (const condition of stored.slice(0, 20)) {
    const { type, status, reason, message } = isJsonObject(condition) ? condition : {};
    const trouble = typeof type === 'string' && Object.hasOwn(BAD_CONDITIONS, type) ? BAD_CONDITIONS[type] : undefined;
    if (trouble && trouble.status === status) {
      const advice = resource.id.kind === 'MetaresourceDefinition' ? definitionAdvice(resource) : trouble.advice;
      yield found(resource, `${text(type)} ${text(reason)}: ${text(message)}`, advice);
    }
  }
}

/** Returns advice for a definition that declares no kind. */
function definitionAdvice({ spec }: Resource): string {
  const [plural, group] = [text(spec['plural']), text(spec['group'])];
  return `change it as the message says; where the name is taken, apply it again: its kind is called ${plural}.${group} then`;
}

function* zoneFacts(
  { zones }: DoctorInput,
  check: (zone: ZoneWithInsight) => Finding | undefined,
): Iterable<Finding | undefined> {
  for (const zone of zones) yield check(zone);
}

function doubtfulClaim({ zone, insight }: ZoneWithInsight): Finding | undefined {
  const claim = objectIn(insight['doubtful']);
  if (!claim) return undefined;
  const advice =
    claim['claim'] === 'epoch'
      ? `find out who holds its token; where the epoch is true: causeway zones reset-epoch ${zone.id.name}`
      : 'find out who holds its token; a zone whose database is its own makes no such claim';
  return found(zone, `${text(claim['instance'])} ${text(claim['detail'])}`, advice);
}

function refusedStore({ zone, insight }: ZoneWithInsight): Finding | undefined {
  const refused = objectIn(insight['refused']);
  const storeId = text(refused?.['storeId']);
  if (!refused) return undefined;
  const advice = `where the zone was installed anew: causeway zones adopt ${zone.id.name} ${storeId}`;
  return found(zone, `store ${storeId} (${text(refused['instance'])}) connects under its name and is refused`, advice);
}

function newIncarnation({ zone, insight }: ZoneWithInsight): Finding | undefined {
  const life = objectIn(insight['newIncarnation']);
  if (!life) return undefined;
  const what = `began the new incarnation ${text(life['incarnation'])}; resources that it does not name are held`;
  return found(zone, what, `if it was really deleted: causeway zones confirm ${zone.id.name}`);
}

function* rejections({ zones }: DoctorInput): Iterable<Finding | undefined> {
  for (const { zone, insight } of zones) {
    const kinds = insight['kinds'];
    for (const report of isJsonArray(kinds) ? kinds.filter(isJsonObject) : []) {
      const standing = report['rejections'];
      for (const rejection of isJsonArray(standing) ? standing.filter(isJsonObject) : []) {
        const name = `${text(report['kind'])} ${text(rejection['wireKey'])}`;
        yield found(zone, `${name} is rejected: ${text(rejection['reason'])}`, 'change it where it was made');
      }
      yield undefined;
    }
  }
}

function lostZone({ zone }: ZoneWithInsight): Finding | undefined {
  const lost = objectIn(zone.status?.['lost']);
  if (!lost) return undefined;
  const meshes = Object.entries(objectIn(lost['meshes']) ?? {}).map(
    ([mesh, policy]) => `${text(policy)} for mesh ${mesh}`,
  );
  const policies = [...(lost['policy'] === undefined ? [] : [text(lost['policy'])]), ...meshes.sort()];
  const what = `is lost since ${text(lost['since'])}, policy ${policies.join(', ')}`;
  return found(zone, what, `look at its log; where it is gone for good: causeway delete zone ${zone.id.name}`);
}

function* quarantined({ zones }: DoctorInput): Iterable<Finding | undefined> {
  for (const { zone } of zones) {
    const { name } = zone.id;
    const { all, resources } = objectIn(zone.spec['quarantine']) ?? {};
    const release = `when it is well again: causeway zones quarantine ${name}`;
    yield all === true ? found(zone, 'is quarantined', `${release} --release`) : undefined;
    for (const item of isJsonArray(resources) ? resources.filter(isJsonObject) : []) {
      const { type, mesh, namespace } = item;
      const flags = `${flag('mesh', mesh)}${flag('namespace', namespace)}`;
      const named = `${text(type)}/${text(item['name'])}`;
      yield found(zone, `its ${named} is quarantined`, `${release} ${named}${flags} --release`);
    }
  }
}

function flag(name: string, value: unknown): string {
  return typeof value !== 'string' || value === 'default' ? '' : ` --${name} ${value}`;
}

/** Maximum length of the text of a finding, characters. */
const MAX_MESSAGE_LENGTH = 500;

function found({ id }: Resource, what: string, advice: string): Finding {
  const { kind, ...place } = id;
  return { resource: { type: kind, ...place }, what: short(what), advice: short(advice) };
}

function short(long: string): string {
  return long.length <= MAX_MESSAGE_LENGTH ? long : `${long.slice(0, MAX_MESSAGE_LENGTH)}…`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

function objectIn(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
