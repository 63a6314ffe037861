import { timingSafeEqual, createHash } from 'node:crypto';
import { Forbidden } from '@causeway/resources';
import type { RestAccess } from '../rest-dependencies';
import { header, type RestRequest } from './rest-request';
import { isLocalRequest, isLoopback } from './local-request';

const LOCAL_ONLY =
  'from this machine by the name localhost or a loopback address, through no proxy and no web page of another origin';

/** Who may write and see secrets until users and roles exist (design.md §6 "Where they listen"). */
export class CallerAuthorizer {
  private readonly isPublic: boolean;

  constructor(private readonly access: RestAccess) {
    this.isPublic = !isLoopback(access.bindAddress);
  }

  /** True when the call carries the operator's token; a wrong one throws Forbidden. */
  isOperator(call: RestRequest): boolean {
    const expected = this.access.operatorToken;
    const given = /^bearer +(.+)$/i.exec(header(call, 'authorization') ?? '')?.[1]?.trim();
    if (expected === undefined || given === undefined) return false;
    if (equalInConstantTime(given, expected)) return true;
    throw new Forbidden('the bearer token is not the operator token of this control plane');
  }

  /** Throws Forbidden unless the operator asks, or a program on this machine asks a server that only it reaches. */
  checkWriter(call: RestRequest): void {
    if (this.isOperator(call)) return;
    const { bindAddress, operatorToken } = this.access;
    if (!this.isPublic) {
      if (isLocalRequest(call)) return;
      throw new Forbidden(
        operatorToken === undefined
          ? `writes are taken ${LOCAL_ONLY}; for others set CAUSEWAY_OPERATOR_TOKEN and send it`
          : `writes without the operator token are taken ${LOCAL_ONLY}; send the header "Authorization: Bearer" with the operator token`,
      );
    }
    throw new Forbidden(
      operatorToken === undefined
        ? `this control plane listens on ${bindAddress} and has no operator token, so it takes no writes; set CAUSEWAY_OPERATOR_TOKEN, or CAUSEWAY_BIND_ADDRESS to 127.0.0.1`
        : `this control plane listens on ${bindAddress}: writes need the header "Authorization: Bearer" with the operator token`,
    );
  }

  /**
   * Throws Forbidden where only the operator may; `what` says what, in the passive. Without a token whoever is on this
   * machine is the operator of a control plane that only this machine reaches.
   */
  checkOperator(call: RestRequest, what: string): void {
    if (this.isOperator(call)) return;
    const open = !this.isPublic && this.access.operatorToken === undefined;
    if (open && isLocalRequest(call)) return;
    throw new Forbidden(
      open
        ? `${what} to the operator only; without an operator token that is who asks ${LOCAL_ONLY}`
        : `${what} to the operator only; send the operator token`,
    );
  }
}

/** Comparison whose time tells nothing of the content. */
function equalInConstantTime(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
