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

/** Returns whether a document refers to Secrets, so that stored Secrets must be checked. */
export function namesSecrets({ id, spec }: Pick<ValidatedDraft, 'id' | 'spec'>): boolean {
  return secretReferences(id.kind, spec).length > 0;
}

/** If a draft of a Secret omits `usedBy`, the stored list stays: replacing the value does not change its users. */
export function withStoredUsers(kind: Kind, draft: ValidatedDraft, stored: Resource | undefined): ValidatedDraft {
  const users = stored?.spec['usedBy'];
  if (kind.name !== Secret.name || users === undefined || draft.spec['usedBy'] !== undefined) return draft;
  return { ...draft, spec: { ...draft.spec, usedBy: users } };
}

/** Secrets for one request: those of the index, and those of its earlier documents. */
export class RequestSecrets {
  private readonly own = new Map<string, SecretUser>();

  constructor(private readonly parts: Pick<AdmissionParts, 'index' | 'access' | 'controlPlane'>) {}

  /** Adds a document that will be stored; ignores kinds other than Secret. */
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
      return [
        `${what}: the Secret is not given to it, and nothing that needs the Secret is served; add ${entryFor(id)}`,
      ];
    });
    return [...warnings, ...this.checkClientKey(id, spec, stored)];
  }

  /** Private keys may be used by egresses only. A stored key may stay, because it is unknown here whether it was changed. */
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

  /** Returns the Secret of this name that would be created here. */
  private absent(mesh: string, name: string): Identity {
    return { kind: Secret.name, mesh, zone: ownZone(this.parts.controlPlane), namespace: '', name };
  }
}

/** Maximum number of zones in a warning. */
const MAX_NAMED = 10;

/** Returns the entry of `usedBy` for a resource. */
function entryFor({ kind, zone, name }: Identity): string {
  return JSON.stringify({ kind, name, ...(zone !== '' && { zone }) });
}
