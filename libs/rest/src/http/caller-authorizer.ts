import { timingSafeEqual, createHash } from 'node:crypto';
import { localAdmin, operator, type Caller } from '@causeway/access';
import { Forbidden, type Kind } from '@causeway/resources';
import type { RestAccess } from '../rest-dependencies';
import { header, type RestRequest } from './rest-request';
import { isLocalRequest, isLoopback } from './local-request';

const LOCAL_ONLY =
  'from this machine by the name localhost or a loopback address, through no proxy and no web page of another origin';

/** Decides who may write and see secrets, until users and roles exist (docs/design.md §6 "Where they listen"). */
export class CallerAuthorizer {
  private readonly isPublic: boolean;

  constructor(private readonly access: RestAccess) {
    this.isPublic = !isLoopback(access.bindAddress);
  }

  /** True when the request carries the operator's token; a wrong one throws Forbidden. */
  isOperator(request: RestRequest): boolean {
    const expected = this.access.operatorToken;
    const given = /^bearer +(.+)$/i.exec(header(request, 'authorization') ?? '')?.[1]?.trim();
    if (expected === undefined || given === undefined) return false;
    if (equalInConstantTime(given, expected)) return true;
    throw new Forbidden('the bearer token is not the operator token of this control plane');
  }

  /** Who writes a resource of the kind. Throws Forbidden where only the operator token may. */
  writerOf(request: RestRequest, kind: Kind): Caller {
    if (this.isOperator(request)) return operator;
    if (this.access.operatorToken === undefined || kind.writer === 'owner') return localAdmin;
    throw new Forbidden(`${kind.name} is written by the operator; send the operator token`);
  }

  /** Who writes resources of any kind. Throws Forbidden where some kinds are left to the operator token. */
  batchWriterOf(request: RestRequest): Caller {
    if (this.isOperator(request)) return operator;
    if (this.access.operatorToken === undefined) return localAdmin;
    throw new Forbidden('a batch may have kinds that are written by the operator; send the operator token');
  }

  /** Throws Forbidden unless the caller is the operator, or local to a server that only this machine reaches. */
  checkWriter(request: RestRequest): void {
    if (this.isOperator(request)) return;
    const { bindAddress, operatorToken } = this.access;
    if (!this.isPublic) {
      if (isLocalRequest(request)) return;
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
   * Throws Forbidden unless the operator asks; `what` is what is left to the operator, in the passive voice. Without an
   * operator token a local program is the operator of a control plane that only this machine reaches.
   */
  checkOperator(request: RestRequest, what: string): void {
    if (this.isOperator(request)) return;
    const open = !this.isPublic && this.access.operatorToken === undefined;
    if (open && isLocalRequest(request)) return;
    throw new Forbidden(
      open
        ? `${what} to the operator only; without an operator token that is who asks ${LOCAL_ONLY}`
        : `${what} to the operator only; send the operator token`,
    );
  }
}

/** Compares in a time that does not depend on the content. */
function equalInConstantTime(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
