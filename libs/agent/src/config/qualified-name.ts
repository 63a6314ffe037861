/** The namespace of a Dataplane that names none. */
export const DEFAULT_NAMESPACE = 'default';

/** Name of a Dataplane within its mesh. */
export interface QualifiedName {
  readonly name: string;
  /** Absent: `default`. */
  readonly namespace?: string;
}

/** Returns the name of a Dataplane in node ids, unique on a machine: `name`, or `name.namespace` outside `default`. */
export function formatQualifiedName({ name, namespace = DEFAULT_NAMESPACE }: QualifiedName): string {
  return namespace === DEFAULT_NAMESPACE ? name : `${name}.${namespace}`;
}
