import {
  clientKeySource,
  RECORDED_USERS,
  KINDS_WITH_SECRETS,
  Secret,
  resolveSecretNames,
  secretUsers,
} from '@causeway/kinds';
import {
  compareText,
  findCondition,
  identityKey,
  isJsonArray,
  isJsonObject,
  isMadeHere,
  ownZone,
  withCondition,
  withoutConditions,
  type Condition,
  type ControlPlane,
  type JsonObject,
  type JsonValue,
  type Resource,
} from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import type { Change, IndexEvent, IndexReader, MetadataEntry, PatchChange, WriteResult } from '@causeway/store';
import type { ControlLoop, LoopPlan } from '@causeway/loops';
import { keptUsers } from './kept-references';
import { KEPT_CLIENT_KEY } from './secret-access';

/** Metadata entries of this loop: completion of the upgrade, and the users that it added to each Secret. */
export const UPGRADE_ENTRY = { area: 'secret-users', key: 'upgraded' } as const;
/** The condition of a Secret whose users the upgrade wrote, until an administrator writes the Secret. */
const USERS_KEPT = 'UsersKept';
/** Maximum number of changes in one plan. */
const CHANGES_PER_PLAN = 500;
/** Maximum number of users that a condition names. */
const MAX_NAMED = 10;

/** Configuration of the loop. */
export interface KeptSecretsConfig {
  readonly cp: ControlPlane;
  readonly logger: Logger;
}

interface KeptSecret {
  readonly secret: Resource;
  readonly users: readonly JsonObject[];
}

/**
 * Records, once for each store, the users of each Secret from before this version required `usedBy`: in the Secret if it was made here, else in the
 * status of the copy. Afterwards no user is added. If a replica of the previous version, which does not know the field, drops a list, the list is
 * restored. Each written list is shown in a condition of its Secret and in the log.
 */
class KeptSecretsLoop implements ControlLoop {
  readonly name = 'kept-secrets';
  readonly metadataArea = UPGRADE_ENTRY.area;
  private index: IndexReader | undefined;
  private isStale = false;
  private isDone = false;
  /** The users that were kept, by the key of their Secret. */
  private readonly kept = new Map<string, JsonValue>();
  private pending: readonly MetadataEntry[] = [];

  constructor(private readonly config: KeptSecretsConfig) {}

  restore(entries: readonly MetadataEntry[]): void {
    this.kept.clear();
    this.remember(entries);
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.isStale = true;
    this.pending = [];
  }

  observe({ changes }: IndexEvent): void {
    if (changes.some(({ id }) => id.kind === Secret.name)) this.isStale = true;
  }

  plan(now: number): LoopPlan | undefined {
    const { index } = this;
    if (!index || !this.isStale) return undefined;
    this.isStale = false;
    if (this.isDone) {
      const changes = this.upkeep(index, now).slice(0, CHANGES_PER_PLAN);
      this.isStale = changes.length === CHANGES_PER_PLAN;
      return { changes, more: this.isStale };
    }
    const found = [...this.secretChanges(index, now), ...this.keyChanges(index)].slice(0, CHANGES_PER_PLAN);
    // Completion is recorded only once nothing is left: refused changes are planned again.
    this.isStale = true;
    const done = found.length === 0 ? [{ ...UPGRADE_ENTRY, value: { done: true } }] : [];
    this.pending = [...found.flatMap(({ entry }) => entry ?? []), ...done];
    return { changes: found.map(({ change }) => change), metadata: this.pending, more: true };
  }

  onWritten(_: readonly Change[], { results }: WriteResult): void {
    this.remember(this.pending);
    this.pending = [];
    if (results.some(({ type }) => type === 'refused')) this.isStale = true;
  }

  private secretChanges(
    index: IndexReader,
    now: number,
  ): readonly { readonly change: PatchChange; readonly entry: MetadataEntry }[] {
    return [...this.inUse(index).values()].map(({ secret, users }) => {
      this.config.logger.warn('a Secret stays available to the resources that used it before the upgrade', {
        mesh: secret.id.mesh,
        secret: secret.id.name,
        zone: secret.id.zone,
        users: users.map(formatSecretName).join(', '),
      });
      const entry = { area: UPGRADE_ENTRY.area, key: identityKey(secret.id), value: { uid: secret.uid, users } };
      return { change: keepUsers(secret, users, this.config.cp, now), entry };
    });
  }

  /** Returns the Secrets in use that have no list. */
  private inUse(index: IndexReader): ReadonlyMap<string, KeptSecret> {
    const found = new Map<string, KeptSecret>();
    for (const kind of KINDS_WITH_SECRETS)
      for (const user of index.ofKind(kind)) {
        const named = (name: string): Resource | undefined =>
          resolveSecretNames((id) => index.get(id), ownZone(this.config.cp), { mesh: user.id.mesh, name })[0];
        for (const secret of new Set(keptUsers(user, named))) {
          if (secretUsers(secret) !== undefined) continue;
          const key = identityKey(secret.id);
          const { zone, name } = user.id;
          const users = [...(found.get(key)?.users ?? []), { kind, name, zone }];
          found.set(key, {
            secret,
            users: users.sort((a, b) => compareText(formatSecretName(a), formatSecretName(b))),
          });
        }
      }
    return found;
  }

  /** Clients of a zone without an egress keep their client keys for this version. */
  private keyChanges(index: IndexReader): readonly { readonly change: PatchChange; readonly entry?: MetadataEntry }[] {
    const { cp } = this.config;
    if (cp.role === 'global' || [...index.ofKind('ZoneEgress')].some(({ id }) => id.zone === cp.zone)) return [];
    return [...index.ofKind('MeshExternalService')].flatMap(({ id, spec, revision, status = {} }) => {
      const source = clientKeySource(spec);
      if (source === undefined || status[KEPT_CLIENT_KEY] !== undefined) return [];
      return [{ change: { type: 'patch', id, expect: revision, status: { ...status, [KEPT_CLIENT_KEY]: source } } }];
    });
  }

  /** Returns the changes that remain after the upgrade. */
  private upkeep(index: IndexReader, now: number): readonly PatchChange[] {
    return [...index.ofKind(Secret.name)].flatMap((secret): readonly PatchChange[] => {
      const { id, spec, revision, generation, status = {} } = secret;
      const users = this.kept.get(`${secret.uid} ${identityKey(id)}`);
      if (isMadeHere(secret, this.config.cp) && spec['usedBy'] === undefined && isJsonArray(users))
        return [keepUsers(secret, users.filter(isJsonObject), this.config.cp, now)];
      const condition = findCondition(status, USERS_KEPT);
      const isReplaced = status[RECORDED_USERS] !== undefined && spec['usedBy'] !== undefined;
      const isSeen = condition !== undefined && condition['observedGeneration'] !== generation;
      if (!isReplaced && !isSeen) return [];
      const { [RECORDED_USERS]: _, ...replaced } = status;
      const rest = isReplaced ? replaced : status;
      return [{ type: 'patch', id, expect: revision, status: withoutConditions(rest, [USERS_KEPT]) }];
    });
  }

  private remember(entries: readonly MetadataEntry[]): void {
    for (const { key, value } of entries) {
      if (key === UPGRADE_ENTRY.key) this.isDone = value !== null;
      else if (value && typeof value['uid'] === 'string') this.kept.set(`${value['uid']} ${key}`, value['users'] ?? []);
    }
  }
}

/** Creates the loop that records the users of Secrets from before `usedBy`. */
export function createKeptSecretsLoop(config: KeptSecretsConfig): ControlLoop {
  return new KeptSecretsLoop(config);
}

function keepUsers(secret: Resource, users: readonly JsonObject[], cp: ControlPlane, now: number): PatchChange {
  const { id, revision, spec, generation: observedGeneration } = secret;
  const isOwn = isMadeHere(secret, cp);
  const more = users.length > MAX_NAMED ? ` and ${users.length - MAX_NAMED} more` : '';
  const message = `it was in use before the upgrade and stays available to: ${users.slice(0, MAX_NAMED).map(formatSecretName).join(', ')}${more}; write spec.usedBy with those that should have it`;
  const condition: Condition = { type: USERS_KEPT, status: 'True', reason: 'Upgrade', message, observedGeneration };
  const status = withCondition({ ...secret.status, ...(!isOwn && { [RECORDED_USERS]: users }) }, condition, now);
  return { type: 'patch', id, expect: revision, status, ...(isOwn && { spec: { ...spec, usedBy: users } }) };
}

function formatSecretName({ kind, name, zone }: JsonObject): string {
  const [ofKind, called, made] = [kind, name, zone].map((part) => (typeof part === 'string' ? part : ''));
  return `${ofKind} ${called}${made === '' ? '' : ` of zone ${made}`}`;
}
