import { X509Certificate } from 'node:crypto';
import type { BodyOf, rotateWorkloadAuthority, WorkloadAuthority as AuthorityState } from '@causeway/api';
import { parseValidity } from '@causeway/access';
import {
  BACKDATED,
  listCertificates,
  checkCommand,
  listAwaitedPeers,
  type AuthorityStateOfZone,
  type RotationCommand,
  type RotationRequests,
  type TrustEvidence,
  type ZoneAuthority,
} from '@causeway/identity';
import { FieldPath, Invalid, NotFound, Unavailable, type Violation } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';

/** The certificate authority of a zone, for operators. */
export interface AuthorityAccess {
  readonly authority: Pick<ZoneAuthority, 'state'>;
  readonly requests: Pick<RotationRequests, 'submit' | 'getPending'>;
  readonly evidence: TrustEvidence;
}

/** Default timeout for the acknowledgements of a new authority. */
const DEFAULT_DEADLINE = '1h';
/** Maximum number of names in a response; the total is given beside them. */
const MAX_MISSING = 100;
/** Timeout for the leader to execute a request, and polling interval, ms. */
const ORDER_TIMEOUT = 5_000;
const REQUEST_POLL_INTERVAL = 100;

/** The zone's certificate authority for callers on any interface; throws NotFound on a global, which has none. */
export class WorkloadAuthority {
  constructor(
    private readonly access: AuthorityAccess | undefined,
    private readonly clock: Pick<Clock, 'now' | 'sleep'>,
  ) {}

  /** Throws NotFound on a global. */
  checkHere(): void {
    this.here();
  }

  /** Returns the authorities, the step of a rotation, the workloads that are missing, and the pending order; no keys. Throws Unavailable. */
  async status(): Promise<AuthorityState> {
    const { authority, requests, evidence } = this.here();
    const [state, request] = await Promise.all([authority.state(), requests.getPending()]);
    if (!state) throw new Unavailable('there is no certificate authority yet: the leader of this zone makes it');
    const live = state.step.type === 'trusting' ? listAwaitedPeers(await evidence.gaps(listCertificates(state))) : [];
    return {
      ...toStep(state, live),
      authorities: state.authorities.map((one) => toAuthority(one, state.signing)),
      ...(request ? { order: { type: request.order.type, by: request.by, at: rfc3339(request.at) } } : {}),
    };
  }

  /**
   * Stores an order for the leader, and resolves with the status once it is executed, or after five seconds. Rejects
   * with Invalid for invalid fields, Conflict if the step does not allow it, Unavailable.
   */
  async order(fields: BodyOf<typeof rotateWorkloadAuthority>, by: string): Promise<AuthorityState> {
    const { authority, requests } = this.here();
    const decoded = decodeOrder(fields);
    const state = await authority.state();
    if (!state) throw new Unavailable('there is no certificate authority yet: the leader of this zone makes it');
    // A forced rotation while one waits for trust forces that one and does not begin another.
    const isForced = decoded.type === 'rotate' && decoded.force && state.step.type === 'trusting';
    const order: RotationCommand = isForced ? { type: 'force' } : decoded;
    checkCommand(order, state.step);
    await requests.submit(order, by);
    const until = this.clock.now() + ORDER_TIMEOUT;
    while (this.clock.now() < until && (await requests.getPending())) await this.clock.sleep(REQUEST_POLL_INTERVAL);
    return this.status();
  }

  private here(): AuthorityAccess {
    if (this.access) return this.access;
    throw new NotFound('Each zone has a certificate authority of its own; ask the control plane of the zone.');
  }
}

function toStep(
  { step }: AuthorityStateOfZone,
  live: readonly string[],
): Omit<AuthorityState, 'authorities' | 'order'> {
  switch (step.type) {
    case 'steady':
      return { step: 'steady', missing: toMissing([]) };
    case 'trusting': {
      const times = { since: rfc3339(step.startedAt), deadline: rfc3339(step.deadline) };
      return { step: 'trusting', ...times, missing: toMissing(live) };
    }
    case 'retiring': {
      const times = { since: rfc3339(step.usedSince), until: rfc3339(step.dropAt) };
      return { step: 'retiring', ...times, usedBy: step.usedBy, missing: toMissing(step.missing) };
    }
  }
}

function toMissing(names: readonly string[]): AuthorityState['missing'] {
  return { total: names.length, items: names.slice(0, MAX_MISSING) };
}

/** The start of its certificate is not its creation time: certificates are backdated. */
function toAuthority(
  { id, certificate }: AuthorityStateOfZone['authorities'][number],
  signing: string,
): AuthorityState['authorities'][number] {
  const parsed = new X509Certificate(certificate);
  return {
    id,
    sha256: parsed.fingerprint256,
    signs: id === signing,
    certificate,
    creationTime: rfc3339(Date.parse(parsed.validFrom) + BACKDATED),
    notBefore: rfc3339(Date.parse(parsed.validFrom)),
    notAfter: rfc3339(Date.parse(parsed.validTo)),
  };
}

function decodeOrder({ deadline, force, abandon }: BodyOf<typeof rotateWorkloadAuthority>): RotationCommand {
  const violations: Violation[] = [];
  if (abandon === true && (force === true || deadline !== undefined))
    violations.push(FieldPath.at('abandon').violation('must be given alone'));
  const wait = parseValidity(deadline ?? DEFAULT_DEADLINE);
  if (!wait.ok) violations.push(FieldPath.at('deadline').violation(wait.reason));
  if (violations.length > 0 || !wait.ok) throw new Invalid(violations);
  if (abandon === true) return { type: 'abandon' };
  return { type: 'rotate', wait: wait.ms, force: force === true };
}

function rfc3339(time: number): string {
  return new Date(time).toISOString();
}
