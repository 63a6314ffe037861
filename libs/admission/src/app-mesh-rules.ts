import { deriveAwsName, isCovered } from '@causeway/appmesh';
import { MeshNaming, VirtualService } from '@causeway/kinds';
import { meshSuffixes, otherGiver, suffixesIn } from '@causeway/meshes';
import { clashOfAwsName } from '@causeway/naming';
import { FieldPath, Invalid, Label, labelValue, type ControlPlane, type Labels } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { ValidatedDraft } from './validate-draft';

/** Throws Invalid if a document sets the label of an App Mesh name: these names must be under suffixes. */
export function checkNotNamed({ labels }: { readonly labels: Labels }): void {
  if (labelValue(labels, Label.awsName) === undefined) return;
  const at = FieldPath.at('labels').field(Label.awsName);
  throw new Invalid([at.violation('is set by control planes only; leave it out', 'not-allowed')]);
}

/**
 * Warns the writer of a VirtualService whose App Mesh name becomes no hostname. One instance per request, with its
 * MeshNamings.
 */
export class HostnameWarnings {
  private readonly added = new Map<string, readonly string[]>();

  constructor(
    private readonly index: IndexReader,
    private readonly cp: ControlPlane,
  ) {}

  /** Returns the warnings of one planned document; for a lost claim they name the winner and the rule. */
  of({ id, spec }: Pick<ValidatedDraft, 'id' | 'spec'>): readonly string[] {
    const { mesh, namespace } = id;
    if (id.kind === MeshNaming.name) this.added.set(mesh, [...(this.added.get(mesh) ?? []), ...suffixesIn({ spec })]);
    if (id.kind !== VirtualService.name) return [];
    const given = spec['awsName'];
    const hostname = typeof given === 'string' && given !== '' ? given : deriveAwsName('VirtualService', id);
    const suffixes = new Set([...meshSuffixes(this.index, mesh, this.cp), ...(this.added.get(mesh) ?? [])]);
    if (!isCovered(suffixes, hostname, namespace))
      return [
        `awsName "${hostname}" becomes no hostname: it lies under no suffix of mesh ${mesh}; a mesh operator adds one in a MeshNaming`,
      ];
    const giver = otherGiver(this.index, { mesh, hostname }, this.cp);
    return giver ? [`awsName "${hostname}" becomes no hostname: ${clashOfAwsName(giver)}`] : [];
  }
}
