import { toAuditSource, type AccessPolicy, type Caller, type CallerOrigin } from '@causeway/access';
import {
  describeIdentity,
  Forbidden,
  globalIdentity,
  isJsonArray,
  isJsonObject,
  isMadeHere,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Kind,
  type Labels,
} from '@causeway/resources';
import type { AuditSource } from '@causeway/store';

/** Sender of a write. */
export interface WriteContext {
  readonly caller: Caller;
  /** Origin of the request, for the audit log. */
  readonly origin?: CallerOrigin;
  /** The writer is the agent that holds the lease of the Dataplane. */
  readonly holdsLease?: boolean;
}

/** Origin of a write that comes from no interface: a test, a tool. */
const IN_PROCESS: CallerOrigin = { address: '', via: 'in-process', userAgent: undefined };

/** Returns the user of a change, for the audit log. */
export function readAuditSource({ context }: { readonly context: WriteContext }): AuditSource {
  return toAuditSource(context.caller, context.origin ?? IN_PROCESS);
}

/** Returns whether users of `cp` may write `kind` at all (docs/design.md §1, table of kinds). */
export function isWritable(kind: Kind, cp: ControlPlane): boolean {
  if (kind.sync.writtenOn.includes(cp.role)) return true;
  return cp.role === 'zone' && !cp.federated && kind.sync.standalone;
}

/**
 * Throws Forbidden if users may not write the kind on `cp`. The message names where it can be written and, on the
 * global for a zone's copy `id`, the command to quarantine it.
 */
export function checkWritable(kind: Kind, cp: ControlPlane, id?: Identity): void {
  if (isWritable(kind, cp)) return;
  throw new Forbidden(
    kind.sync.writtenOn.includes('zone')
      ? `${kind.name} is written in a zone; send it to the control plane of the zone it belongs to${formatHint(cp, id)}`
      : `${kind.name} is written on the global control plane; send it there`,
  );
}

/** Returns the command that quarantines a zone's resource on the global. */
export function quarantineCommand({ kind, mesh, zone, namespace, name }: Identity): string {
  const flag = (word: string, value: string): string =>
    value === '' || value === 'default' ? '' : ` --${word} ${value}`;
  return `causeway zones quarantine ${zone} ${kind}/${name}${flag('mesh', mesh)}${flag('namespace', namespace)}`;
}

/** Throws Forbidden for a copy from another control plane; the message names its origin. */
export function checkMadeHere(resource: { readonly id: Identity; readonly labels: Labels }, cp: ControlPlane): void {
  if (isMadeHere(resource, cp)) return;
  const { id } = resource;
  const home = id.zone === '' ? 'on the global control plane' : `in zone ${id.zone}`;
  throw new Forbidden(`${describeIdentity(id)} was made ${home}; change it there${formatHint(cp, id)}`);
}

/** Returns the hint for a copy that the global may not change. */
function formatHint(cp: ControlPlane, id: Identity | undefined): string {
  return cp.role === 'global' && id && id.zone !== '' ? `, or keep it away: ${quarantineCommand(id)}` : '';
}

/**
 * A policy on a Mesh affects namespaces that its writer may not write, so creating, changing or deleting one requires
 * the right to change the Mesh. Throws AccessDenied. `specs`: the stored policy and the new one.
 */
export function checkMayReachMesh(
  kind: Kind,
  { mesh }: Identity,
  specs: readonly (JsonObject | undefined)[],
  { access, caller }: { readonly access: Pick<AccessPolicy, 'authorise'>; readonly caller: Caller },
): void {
  if (kind.declaredBy === '' || !specs.some(namesMesh)) return;
  access.authorise(caller, ['update'], globalIdentity('Mesh', mesh));
}

function namesMesh(spec: JsonObject | undefined): boolean {
  const refs = spec?.['targetRefs'];
  return isJsonArray(refs) && refs.some((ref) => isJsonObject(ref) && ref['kind'] === 'Mesh');
}
