import { Label, type Labels, type Resource } from '@causeway/resources';

/** What a user should know who writes over a resource that a controller makes: whose it is from now on. */
export function managedByWarnings(stored: Resource | undefined, labels: Labels): readonly string[] {
  const maker = stored?.labels[Label.managedBy];
  if (stored === undefined || maker === undefined) return [];
  const what = `${stored.id.kind} "${stored.id.name}"`;
  if (labels[Label.managedBy] === maker)
    return [
      `${what} is made by ${maker}, which will write over what you changed; leave out the label ${Label.managedBy} to take it over`,
    ];
  return [
    `${what} was made by ${maker} and is yours from now on: it no longer follows its Dataplanes and stays when they go; delete it to have it made anew`,
  ];
}
