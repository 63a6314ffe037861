import type { Verb } from '@causeway/access';
import {
  clientKeySource,
  includesUser,
  Secret,
  secretReferences,
  resolveSecretNames,
  secretUsers,
} from '@causeway/kinds';
import {
  FieldPath,
  Forbidden,
  identityKey,
  Invalid,
  ownZone,
  type Identity,
  type JsonObject,
  type Kind,
  type Resource,
} from '@causeway/resources';
import type { AdmissionParts } from './admission-parts';
import type { WriteContext } from './rights';
import type { ValidatedDraft } from './validate-draft';

const GET: readonly Verb[] = ['get'];

type SecretUser = Pick<Resource, 'id' | 'spec' | 'status'>;

/** Whether a document names Secrets, so that what is stored of those decides about it. */
export function namesSecrets({ id, spec }: Pick<ValidatedDraft, 'id' | 'spec'>): boolean {
  return secretReferences(id.kind, spec).length > 0;
}

/** A draft of a Secret that leaves `usedBy` out keeps the stored list, so that who replaces its value says nothing of its users. */
export function withStoredUsers(kind: Kind, draft: ValidatedDraft, stored: Resource | undefined): ValidatedDraft {
  const users = stored?.spec['usedBy'];
  if (kind.name !== Secret.name || users === undefined || draft.spec['usedBy'] !== undefined) return draft;
  return { ...draft, spec: { ...draft.spec, usedBy: users } };
}

/** The Secrets that one request sees: those of the index, and those of its documents before. */
export class RequestSecrets {
  private readonly own = new Map<string, SecretUser>();

  constructor(private readonly parts: Pick<AdmissionParts, 'index' | 'access' | 'controlPlane'>) {}

  /** Takes what a document is going to be stored as; other kinds than Secret mean nothing here. */
  take(written: SecretUser): void {
    if (written.id.kind === Secret.name) this.own.set(identityKey(written.id), written);
  }

  /**
   * Throws Forbidden if a document names a Secret that does not list it and that the caller may not read, and Invalid
   * if it brings a client key that no resource could use. Returns warnings if the caller may read the Secret: the
   * resource still does not get it.
   */
  check({ id, spec }: ValidatedDraft, stored: Resource | undefined, { caller }: WriteContext): readonly string[] {
    const { access } = this.parts;
    const warnings = secretReferences(id.kind, spec).flatMap(({ field, secret: name }) => {
      const named = this.named(id.mesh, name);
      if (named.some((secret) => includesUser(secretUsers(secret), id))) return [];
      const asked = named.length > 0 ? named.map((secret) => secret.id) : [this.absent(id.mesh, name)];
      const what = `${field}: no Secret "${name}" lists ${id.kind} "${id.name}" in spec.usedBy`;
      if (!asked.every((secret) => access.may(caller, GET, secret)))
        throw new Forbidden(`${what}; an administrator can add ${entryFor(id)}`);
      return [`${what}: it is not given to it, and nothing is served that needs it; add ${entryFor(id)}`];
    });
    return [...warnings, ...this.checkClientKey(id, spec, stored)];
  }

  /** A private key is given to egresses only. A key that is stored already may stay, for it cannot be seen here whether it was kept. */
  private checkClientKey(id: Identity, spec: JsonObject, stored: Resource | undefined): readonly string[] {
    const source = id.kind === 'MeshExternalService' ? clientKeySource(spec) : undefined;
    if (source === undefined) return [];
    const { index, controlPlane } = this.parts;
    const egresses = [...index.ofKind('ZoneEgress')].map((egress) => egress.id.zone);
    const at = FieldPath.at('spec').field('tls').field('verification').field('clientKey');
    const isServed = controlPlane.role === 'global' ? egresses.length > 0 : egresses.includes(controlPlane.zone);
    const where =
      controlPlane.role === 'global' ? 'a ZoneEgress in each zone that is to reach it' : 'a ZoneEgress in this zone';
    const rule = `needs ${where}: a private key is given to egresses only`;
    if (!isServed && (!stored || clientKeySource(stored.spec) !== source))
      throw new Invalid([at.violation(rule, 'not-allowed')]);
    const without = controlPlane.role === 'global' ? this.zonesWithout(egresses) : [];
    if (isServed && without.length === 0) return [];
    return [`${at.toString()}: ${rule}${without.length > 0 ? `; there is none in ${without.join(', ')}` : ''}`];
  }

  private zonesWithout(egresses: readonly string[]): readonly string[] {
    const zones = [...this.parts.index.ofKind('Zone')].map(({ id }) => id.name).sort();
    return zones.filter((zone) => !egresses.includes(zone)).slice(0, MAX_NAMED);
  }

  private named(mesh: string, name: string): readonly SecretUser[] {
    const { index, controlPlane } = this.parts;
    const known = resolveSecretNames((id) => index.get(id), ownZone(controlPlane), { mesh, name });
    const mine = this.own.get(identityKey(this.absent(mesh, name)));
    const others = known.filter(({ id }) => !this.own.has(identityKey(id)));
    return mine ? [mine, ...others] : others;
  }

  /** The Secret of this name that would be made here. */
  private absent(mesh: string, name: string): Identity {
    return { kind: Secret.name, mesh, zone: ownZone(this.parts.controlPlane), namespace: '', name };
  }
}

/** Zones that a warning names. */
const MAX_NAMED = 10;

/** The entry of `usedBy` that names a resource. */
function entryFor({ kind, zone, name }: Identity): string {
  return JSON.stringify({ kind, name, ...(zone !== '' && { zone }) });
}
