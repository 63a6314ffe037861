import {
  type AttachRequest,
  type AttachResponse,
  RegistrationOutcome,
  type RegistrationResult,
  type ZoneFacts,
} from '@causeway/proto-gen';
import { Invalid, shortened } from '@causeway/resources';
import { errorText, type Clock, type Logger, type TokenBucket } from '@causeway/runtime';
import type { LeaseAgent, LeaseKey, LeaseRenewal } from '@causeway/store';
import { status, type ServerDuplexStream } from '@grpc/grpc-js';
import type { AgentCredentials, AgentRegistrations } from './agent-registrations';
import { readAgent, readName, readRegistration } from './attach-messages';
import { HeldDataplanes } from './held-dataplanes';
import type { LeaseSession, ReplicaLeases } from './replica-leases';

export type AttachCall = ServerDuplexStream<AttachRequest, AttachResponse>;

export interface AttachStreamOptions {
  readonly id: string;
  readonly credentials: AgentCredentials;
  readonly registrations: AgentRegistrations;
  readonly leases: ReplicaLeases;
  readonly requests: TokenBucket;
  /** Returns the facts of the zone for machines with Dataplanes of this mesh. */
  readonly zoneFacts: (mesh: string) => ZoneFacts;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the agent has presented valid credentials. */
  readonly authorised: () => void;
  /** Called once; `why` is undefined if the agent ended the stream. */
  readonly over: (why: string | undefined) => void;
}

export type AttachEnd =
  'malformed' | 'unauthenticated' | 'exhausted' | 'deadline' | 'unavailable' | 'aborted' | 'internal';

const CODES: Readonly<Record<AttachEnd, status>> = {
  malformed: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  exhausted: status.RESOURCE_EXHAUSTED,
  deadline: status.DEADLINE_EXCEEDED,
  unavailable: status.UNAVAILABLE,
  aborted: status.ABORTED,
  internal: status.INTERNAL,
};

/** Maximum number of Dataplanes of one agent. */
const MAX_DATAPLANES = 64;
/** A request counts once, and once more per this many characters. */
const REQUEST_SIZE = 16 * 1024;
/** Maximum bytes sent to an agent and not read by it. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const MAX_TEXT = 1_000;

/** Stream of one agent: enforces limits, reads requests, owns its Dataplanes. */
export class AttachStream implements LeaseSession {
  readonly id: string;
  private agent: LeaseAgent | undefined;
  private dataplanes: HeldDataplanes | undefined;
  /** Meshes of the written Dataplanes. */
  private readonly meshes = new Set<string>();
  private lastSent = '';
  private isOver = false;
  private last: { readonly at: number; readonly heartbeat: number };

  constructor(
    private readonly call: AttachCall,
    private readonly options: AttachStreamOptions,
  ) {
    this.id = options.id;
    this.last = { at: options.clock.elapsed(), heartbeat: 0 };
  }

  get lastRequest(): LeaseSession['lastRequest'] {
    return this.last;
  }

  /** Host name of the machine, for operators; empty before the first request. */
  get machine(): string {
    return this.agent?.machine ?? '';
  }

  /** Starts reading. */
  begin(): void {
    const { call } = this;
    call.on('data', (request: AttachRequest) => this.receive(request));
    call.on('cancelled', () => this.finish(undefined));
    call.on('error', (error: Error) => this.finish(error.message));
    call.on('end', () => {
      this.finish(undefined);
      call.end();
    });
  }

  /** Ends the stream for both sides; only the first call has an effect. */
  end(reason: AttachEnd, detail: string): void {
    if (this.isOver) return;
    const details = shortened(detail, MAX_TEXT, '…');
    this.finish(details);
    this.call.emit('error', Object.assign(new Error(details), { code: CODES[reason], details }));
  }

  *held(): Generator<LeaseKey & Pick<LeaseRenewal, 'health'>> {
    if (this.dataplanes) yield* this.dataplanes.held();
  }

  renewed(heartbeat: number, rows: readonly (LeaseKey & Pick<LeaseRenewal, 'health'>)[]): void {
    for (const { mesh, namespace, name, health } of rows)
      if (health) this.dataplanes?.stored({ mesh, namespace, name, health });
    if (this.agent) this.send({ heartbeat });
  }

  lost(key: LeaseKey, isTaken: boolean): void {
    this.dataplanes?.lost(key, isTaken);
  }

  /** Rewrites Dataplanes that were removed from the zone or lost their label, by `formatLeaseName`. */
  rewriteRemoved(names: ReadonlySet<string>): void {
    this.dataplanes?.rewriteRemoved(names);
  }

  /** Authorises all Dataplanes, or these, again, by `formatLeaseName`; ends the stream if that fails. */
  review(names?: ReadonlySet<string>): void {
    void this.dataplanes?.review(names);
  }

  /** Sends the facts of the zone that the agent needs, if they differ from those sent last. */
  sendZoneFacts(): void {
    const facts = [...this.meshes].map(this.options.zoneFacts);
    const virtualRanges = [...new Set(facts.flatMap((each) => each.virtualRanges))];
    const zone = { virtualRanges, dnsSuffixes: facts[0]?.dnsSuffixes ?? [] };
    const encoded = JSON.stringify(zone);
    if (facts.length === 0 || encoded === this.lastSent) return;
    this.lastSent = encoded;
    this.send({ zone });
  }

  /** Authorises again if a right has expired. */
  checkTime(now: number): void {
    if (this.dataplanes && this.dataplanes.until <= now) this.review();
  }

  private receive(request: AttachRequest): void {
    if (this.isOver) return;
    const size = request.registrations.reduce((sum, { specJson, token }) => sum + specJson.length + token.length, 0);
    if (this.options.requests.take(1 + Math.floor(size / REQUEST_SIZE)) !== undefined)
      return this.end('exhausted', 'too many requests');
    if (request.registrations.length + request.withdrawals.length > 2 * MAX_DATAPLANES)
      return this.end('exhausted', `a request names at most ${2 * MAX_DATAPLANES} Dataplanes`);
    this.last = { at: this.options.clock.elapsed(), heartbeat: Math.max(this.last.heartbeat, request.heartbeat) };
    try {
      const dataplanes = this.dataplanes ?? this.introduce(request);
      this.want(dataplanes, request);
    } catch (error) {
      if (error instanceof Invalid) this.end('malformed', errorText(error));
      else this.failed(error);
    }
  }

  private introduce({ agent }: AttachRequest): HeldDataplanes {
    const { registrations, leases, credentials, clock, id: session, authorised } = this.options;
    const attached = readAgent(
      agent ?? { instance: '', run: '', startedAt: 0, machine: '', version: '', secret: '' },
      credentials.address,
    );
    this.agent = attached.agent;
    this.dataplanes = new HeldDataplanes({
      session,
      ...attached,
      credentials,
      registrations,
      leases,
      clock,
      authorised,
      answer: (result) => this.answer(result),
      ended: (reason, text) => this.end(reason, text),
      failed: (error) => this.failed(error),
    });
    this.send({ lease: { lengthMs: leases.length, heartbeatMs: leases.heartbeatInterval } });
    return this.dataplanes;
  }

  private want(dataplanes: HeldDataplanes, { registrations, withdrawals }: AttachRequest): void {
    for (const registration of registrations) {
      const key = readName(registration.dataplane);
      if (!dataplanes.has(key) && dataplanes.size >= MAX_DATAPLANES)
        return this.end('exhausted', `an agent has at most ${MAX_DATAPLANES} Dataplanes`);
      try {
        dataplanes.setWanted(key, readRegistration(registration));
      } catch (error) {
        if (!(error instanceof Invalid)) throw error;
        this.refused(key, registration.version, error);
      }
    }
    for (const withdrawal of withdrawals) dataplanes.setWanted(readName(withdrawal), undefined);
  }

  private refused(dataplane: LeaseKey, version: number, error: Invalid): void {
    const outcome = RegistrationOutcome.REGISTRATION_OUTCOME_REFUSED;
    const violations = error.violations.map(({ field, rule, reason: message }) => ({ field, rule, message }));
    const reason = shortened(errorText(error), MAX_TEXT, '…');
    const result: RegistrationResult = {
      dataplane,
      version,
      outcome,
      reason,
      violations,
      holder: undefined,
      revision: 0,
    };
    this.send({ results: [result] });
  }

  private answer(result: RegistrationResult): void {
    this.send({ results: [result] });
    if (result.outcome !== RegistrationOutcome.REGISTRATION_OUTCOME_WRITTEN) return;
    this.meshes.add(result.dataplane?.mesh ?? '');
    this.sendZoneFacts();
  }

  private send(response: Partial<AttachResponse>): void {
    if (this.isOver) return;
    if (this.call.writableLength > MAX_UNREAD_BYTES) return this.end('exhausted', 'the agent does not read');
    this.call.write({ lease: undefined, results: [], heartbeat: 0, zone: undefined, ...response });
  }

  private failed(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : errorText(error);
    this.options.logger.error('a stream of an agent has failed', { error: text });
    this.end('internal', 'internal error; the log of the control plane has it');
  }

  private finish(why: string | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    this.dataplanes?.close();
    this.options.over(why);
  }
}
