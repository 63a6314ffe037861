/** The namespace of a Dataplane that names none. */
export const DEFAULT_NAMESPACE = 'default';

/** Of which Dataplane something is, within its mesh. */
export interface QualifiedName {
  readonly name: string;
  /** Absent: `default`. */
  readonly namespace?: string;
}

/**
 * Returns the one text that names a Dataplane, as a zone reads it of the node of a proxy: `name`, or `name.namespace` outside
 * `default`. One machine has no two Dataplanes of one such name.
 */
export function qualifiedName({ name, namespace = DEFAULT_NAMESPACE }: QualifiedName): string {
  return namespace === DEFAULT_NAMESPACE ? name : `${name}.${namespace}`;
}
