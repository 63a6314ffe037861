import type { EnrolmentResource } from './enrolments';

/** What a machine goes on with that joined before its zone went by enrolments. */
export interface OldCredential {
  /** The services that it is still good for; nothing new is. */
  readonly services: readonly string[];
  /** The command that makes the bundle which takes its place. */
  readonly command: string;
}

/**
 * What the machine of an enrolment still shows from before enrolments; undefined where it has joined with a newer credential, or where a
 * user has written the Dataplane, whose machine was never granted services.
 */
export function oldCredential({ id, spec }: EnrolmentResource): OldCredential | undefined {
  const { by, services } = spec;
  if (by !== 'upgrade' || services === undefined) return undefined;
  const { mesh, namespace, name } = id;
  const place = `--mesh ${mesh}${namespace === 'default' ? '' : ` --namespace ${namespace}`}`;
  const granted = services.length === 0 ? '--no-service' : `--service ${services.join(',')}`;
  return { services, command: `causeway tokens dataplane ${name} ${place} ${granted} --bundle` };
}
