import { Unauthenticated } from '@causeway/access';
import { RegistrationOutcome, type RegistrationResult } from '@causeway/proto-gen';
import { Conflict, Forbidden, Invalid, NotFound, shortened, Unavailable } from '@causeway/resources';
import { Backoff, errorText, type Clock, type Timer } from '@causeway/runtime';
import type { AgentLease, AgentFinding, LeaseAgent, LeaseKey } from '@causeway/store';
import {
  RegisteredByProxy,
  type AgentCredentials,
  type AgentRegistrations,
  type RegistrationRight,
} from './agent-registrations';
import type { WantedDataplane } from './attach-messages';
import { formatLeaseName, type ReplicaLeases } from './replica-leases';

/** Result of one registration, as reported to the agent. */
export type RegistrationReply = Partial<RegistrationResult> & Pick<RegistrationResult, 'outcome'>;

export interface HeldDataplanesOptions {
  readonly session: string;
  readonly agent: LeaseAgent;
  /** See `LeaseClaim`. */
  readonly secretHash?: string;
  /** Credentials of the call. */
  readonly credentials: AgentCredentials;
  readonly registrations: AgentRegistrations;
  readonly leases: Pick<ReplicaLeases, 'claim' | 'drop' | 'length'>;
  readonly clock: Clock;
  readonly answer: (result: RegistrationResult) => void;
  /** Called when the agent has presented valid credentials. */
  readonly authorised: () => void;
  /** Called when the credentials are no longer valid, or another session has the leases. */
  readonly ended: (reason: 'unauthenticated' | 'aborted', text: string) => void;
  /** Called with an unexpected error. */
  readonly failed: (error: unknown) => void;
}

interface HeldDataplane {
  readonly key: LeaseKey;
  /** Undefined: to be removed. */
  wanted: WantedDataplane | undefined;
  /** Counts changes, so that one during a write is not lost. */
  changes: number;
  isHeld: boolean;
  right: RegistrationRight | undefined;
  /** Not yet written to the store. */
  health: readonly AgentFinding[] | undefined;
  retry: Timer | undefined;
  readonly backoff: Backoff;
}

const PAUSES = { base: 200, cap: 5_000 };
const MAX_TEXT = 1_000;

/**
 * Dataplanes of one stream. Brings each to the state that the agent wants: authorise → lease → write, or remove → drop.
 * Dataplanes are processed one after the other; only the newest state of each is written.
 */
export class HeldDataplanes {
  private readonly all = new Map<string, HeldDataplane>();
  private readonly dirty = new Set<string>();
  private isWorking = false;
  private isClosed = false;

  constructor(private readonly options: HeldDataplanesOptions) {}

  get size(): number {
    return this.all.size;
  }

  has(key: LeaseKey): boolean {
    return this.all.has(formatLeaseName(key));
  }

  /** Sets the wanted Dataplane; undefined: to be removed. */
  setWanted(key: LeaseKey, wanted: WantedDataplane | undefined): void {
    const name = formatLeaseName(key);
    const one = this.all.get(name) ?? this.create(key);
    one.wanted = wanted;
    one.changes += 1;
    one.health = wanted?.health;
    one.backoff.reset();
    this.all.set(name, one);
    this.enqueue(one);
  }

  /** Rewrites held Dataplanes that were removed, or whose label was removed (by an older control plane). */
  rewriteRemoved(names: ReadonlySet<string>): void {
    for (const [name, one] of this.all) if (one.isHeld && one.wanted && names.has(name)) this.enqueue(one);
  }

  /** Handles the loss of a lease. */
  lost(key: LeaseKey, isTaken: boolean): void {
    const one = this.all.get(formatLeaseName(key));
    if (one?.isHeld !== true) return;
    one.isHeld = false;
    if (isTaken) return this.options.ended('aborted', `the lease of Dataplane ${key.name} was taken by another stream`);
    this.enqueue(one);
  }

  /** Returns the held Dataplanes, with unwritten health. */
  *held(): Generator<LeaseKey & { readonly health?: readonly AgentFinding[] }> {
    for (const { key, isHeld, health } of this.all.values()) if (isHeld) yield { ...key, ...(health && { health }) };
  }

  /** Marks this health as written. */
  stored({ health, ...key }: LeaseKey & { readonly health?: readonly AgentFinding[] }): void {
    const one = this.all.get(formatLeaseName(key));
    if (one && health !== undefined && one.health === health) one.health = undefined;
  }

  /** Earliest expiry of a right to a held Dataplane, ms since 1970. */
  get until(): number {
    return Math.min(
      ...[...this.all.values()].map(({ isHeld, right }) => (isHeld ? (right?.until ?? Infinity) : Infinity)),
    );
  }

  /** Authorises all Dataplanes, or these, again, by `formatLeaseName`; ends the stream if that fails. */
  async review(names?: ReadonlySet<string>): Promise<void> {
    for (const [name, one] of [...this.all]) {
      if (!one.isHeld || !one.wanted || this.isClosed || names?.has(name) === false) continue;
      try {
        one.right = await this.authorise(one, one.wanted);
      } catch (error) {
        if (error instanceof Unavailable) continue;
        if (error instanceof Unauthenticated || error instanceof Forbidden)
          return this.options.ended('unauthenticated', errorText(error));
        if (!(error instanceof Invalid)) return this.options.failed(error);
      }
    }
  }

  close(): void {
    this.isClosed = true;
    for (const { retry } of this.all.values()) retry?.cancel();
  }

  private create(key: LeaseKey): HeldDataplane {
    const nothing = { wanted: undefined, right: undefined, health: undefined, retry: undefined };
    return { key, ...nothing, changes: 0, isHeld: false, backoff: new Backoff(PAUSES) };
  }

  private enqueue(one: HeldDataplane): void {
    one.retry?.cancel();
    one.retry = undefined;
    this.dirty.add(formatLeaseName(one.key));
    if (!this.isWorking) void this.work();
  }

  private async work(): Promise<void> {
    this.isWorking = true;
    for (const name of this.dirty) {
      if (this.isClosed) break;
      this.dirty.delete(name);
      const one = this.all.get(name);
      if (one) await this.settle(one);
    }
    this.isWorking = false;
  }

  private async settle(one: HeldDataplane): Promise<void> {
    const { wanted, changes } = one;
    try {
      const answer = wanted ? await this.register(one, wanted) : await this.withdraw(one);
      if (answer) this.reply(one, wanted, answer);
      if (one.changes === changes && !wanted && answer?.outcome === RegistrationOutcome.REGISTRATION_OUTCOME_WITHDRAWN)
        this.all.delete(formatLeaseName(one.key));
    } catch (error) {
      await this.refuse(one, wanted, error);
    }
  }

  private async register(one: HeldDataplane, wanted: WantedDataplane): Promise<RegistrationReply | undefined> {
    const { registrations, agent } = this.options;
    one.right = await this.authorise(one, wanted);
    registrations.checkOwner(one.key);
    const holder = await this.claimLease(one);
    if (holder) return this.heldBy(one, holder);
    const revision = await registrations.write(one.key, wanted, agent.instance, one.right);
    one.backoff.reset();
    return { outcome: RegistrationOutcome.REGISTRATION_OUTCOME_WRITTEN, revision };
  }

  private async withdraw(one: HeldDataplane): Promise<RegistrationReply> {
    const { registrations, leases, session, credentials } = this.options;
    const done = { outcome: RegistrationOutcome.REGISTRATION_OUTCOME_WITHDRAWN };
    const right = one.isHeld ? one.right : await registrations.mayRemove(one.key, credentials);
    if (!right) return done;
    const holder = await this.claimLease(one);
    if (holder) return this.heldBy(one, holder);
    await registrations.remove(one.key, right);
    // A crash between the two writes leaves a lease without a Dataplane, which expires.
    await leases.drop({ ...one.key, session });
    one.isHeld = false;
    return done;
  }

  private async authorise({ key, isHeld }: HeldDataplane, wanted: WantedDataplane): Promise<RegistrationRight> {
    const { registrations, credentials, authorised } = this.options;
    const shown = wanted.token === '' ? credentials : { ...credentials, token: wanted.token };
    const right = await registrations.authorise(key, wanted, shown, isHeld);
    authorised();
    return right;
  }

  /** Resolves with the holder if it is another agent. */
  private async claimLease(one: HeldDataplane): Promise<AgentLease | undefined> {
    if (one.isHeld) return undefined;
    const { leases, agent, secretHash, session } = this.options;
    const answer = await leases.claim({ ...one.key, agent, session, ...(secretHash !== undefined && { secretHash }) });
    if (answer.type === 'held') return answer.by;
    one.isHeld = true;
    // The row is new, or of another run.
    one.health = one.wanted?.health;
    return undefined;
  }

  private heldBy(one: HeldDataplane, { instance, machine, address, since }: AgentLease): RegistrationReply {
    this.again(one, this.options.leases.length);
    const isCopy = instance === this.options.agent.instance;
    const why = isCopy
      ? 'says that it is the same one: this is a copy of its machine, or shows another secret than its state folder has'
      : 'holds its lease';
    const reason = `another agent, of machine ${machine} at ${address}, ${why}`;
    return {
      outcome: RegistrationOutcome.REGISTRATION_OUTCOME_HELD,
      reason,
      holder: { instance, machine, address, since },
    };
  }

  private async refuse(one: HeldDataplane, wanted: WantedDataplane | undefined, error: unknown): Promise<void> {
    if (error instanceof Unavailable || error instanceof Conflict) return this.again(one, one.backoff.next());
    if (error instanceof RegisteredByProxy) {
      this.again(one, this.options.leases.length);
      return this.reply(one, wanted, {
        outcome: RegistrationOutcome.REGISTRATION_OUTCOME_HELD,
        reason: errorText(error),
      });
    }
    if (error instanceof Unauthenticated && (wanted?.token ?? '') === '')
      return this.options.ended('unauthenticated', errorText(error));
    const isKnown = [Invalid, Forbidden, NotFound, Unauthenticated].some((known) => error instanceof known);
    if (!isKnown) return this.options.failed(error);
    if (error instanceof NotFound) this.again(one, this.options.leases.length);
    const violations =
      error instanceof Invalid
        ? error.violations.map(({ field, rule, reason: message }) => ({ field, rule, message }))
        : [];
    const reason = shortened(errorText(error), MAX_TEXT, '…');
    this.reply(one, wanted, { outcome: RegistrationOutcome.REGISTRATION_OUTCOME_REFUSED, reason, violations });
    await this.dropUnwritten(one);
  }

  /** Drops a lease on a Dataplane that was never written. */
  private async dropUnwritten(one: HeldDataplane): Promise<void> {
    const { leases, registrations, session } = this.options;
    if (!one.isHeld || registrations.isStored(one.key)) return;
    one.isHeld = false;
    await leases.drop({ ...one.key, session }).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) this.options.failed(error);
    });
  }

  private again(one: HeldDataplane, pause: number): void {
    if (this.isClosed) return;
    one.retry?.cancel();
    one.retry = this.options.clock.after(pause, () => this.enqueue(one));
  }

  private reply(one: HeldDataplane, wanted: WantedDataplane | undefined, answer: RegistrationReply): void {
    if (this.isClosed) return;
    this.options.answer({
      reason: '',
      violations: [],
      holder: undefined,
      revision: 0,
      ...answer,
      dataplane: one.key,
      version: wanted?.version ?? 0,
    });
  }
}
