import {
  FieldPath,
  Forbidden,
  Invalid,
  isGeneratedFrom,
  Label,
  labelValue,
  type Labels,
  type Resource,
} from '@causeway/resources';

/** Throws Forbidden for a resource that control planes generate from a user's resource: it follows that one (ADR 22). */
export function checkNotGenerated(stored: Resource | undefined): void {
  if (!stored || !isGeneratedFrom(stored.labels)) return;
  const { id, labels } = stored;
  const name = labelValue(labels, Label.generatedFromName);
  const source = `${labelValue(labels, Label.generatedFrom) ?? ''}${name === undefined ? '' : ` "${name}"`}`;
  throw new Forbidden(`${id.kind} "${id.name}" is generated from the ${source} of its namespace; edit that instead`);
}

/** Throws Invalid if a document claims to be generated: only control planes generate resources. */
export function checkNotClaimed({ labels }: { readonly labels: Labels }): void {
  if (!isGeneratedFrom(labels)) return;
  const at = FieldPath.at('labels').field(Label.generatedFrom);
  throw new Invalid([at.violation('is set by control planes only; leave it out', 'not-allowed')]);
}
