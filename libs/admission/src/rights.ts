import {
  describeIdentity,
  Forbidden,
  isMadeHere,
  type ControlPlane,
  type Identity,
  type Kind,
  type Labels,
} from '@causeway/resources';

/** Who writes. */
export interface WriteContext {
  /** The request carried the operator's token. */
  readonly operator: boolean;
}

/** True where users of `cp` may write `kind` at all (design.md §1 table). */
export function isWritable(kind: Kind, cp: ControlPlane): boolean {
  if (kind.sync.writtenOn.includes(cp.role)) return true;
  return cp.role === 'zone' && !cp.federated && kind.sync.standalone;
}

/**
 * Throws Forbidden, saying where the kind is written, when users may not write it on `cp`; of a zone's copy, `id`, also
 * how it is kept away.
 */
export function checkWritable(kind: Kind, cp: ControlPlane, id?: Identity): void {
  if (isWritable(kind, cp)) return;
  throw new Forbidden(
    kind.sync.writtenOn.includes('zone')
      ? `${kind.name} is written in a zone; send it to the control plane of the zone it belongs to${otherwise(cp, id)}`
      : `${kind.name} is written on the global control plane; send it there`,
  );
}

/** Throws Forbidden when only the operator writes `kind` and this is not the operator (design.md §6). */
export function checkOperator(kind: Kind, context: WriteContext, tokenSet: boolean): void {
  if (!tokenSet || kind.writer !== 'operator' || context.operator) return;
  throw new Forbidden(`${kind.name} is written by the operator; send the operator token`);
}

/** The command by which the global keeps a zone's resource away from the mesh. */
export function quarantineCommand({ kind, mesh, zone, namespace, name }: Identity): string {
  const flag = (word: string, value: string): string =>
    value === '' || value === 'default' ? '' : ` --${word} ${value}`;
  return `causeway zones quarantine ${zone} ${kind}/${name}${flag('mesh', mesh)}${flag('namespace', namespace)}`;
}

/** Throws Forbidden, saying where it was made, for what came to this control plane from elsewhere. */
export function checkMadeHere(resource: { readonly id: Identity; readonly labels: Labels }, cp: ControlPlane): void {
  if (isMadeHere(resource, cp)) return;
  const { id } = resource;
  const home = id.zone === '' ? 'on the global control plane' : `in zone ${id.zone}`;
  throw new Forbidden(`${describeIdentity(id)} was made ${home}; change it there${otherwise(cp, id)}`);
}

/** What the global can do about a copy that it may not change. */
function otherwise(cp: ControlPlane, id: Identity | undefined): string {
  return cp.role === 'global' && id && id.zone !== '' ? `, or keep it away: ${quarantineCommand(id)}` : '';
}
