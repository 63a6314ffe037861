import { identityKey, type Registry } from '@causeway/resources';
import { CAUSEWAY_DIALECT, toCopy, decodeRequest, decodeResponse, type Copy, type Sender } from '@causeway/kds/testing';
import type { Said } from '../engine/network';
import type { Row, WatchedDisk } from '../engine/watched-disk';
import { sameContent } from './copies';
import type { Report } from './violation';

/** I9 between peers: acknowledged content is stored, so that no death of the receiver loses it. */
export class AnswerCheck {
  private readonly sent = new WeakMap<object, Map<string, readonly Copy[]>>();

  constructor(
    private readonly diskOf: (name: string) => WatchedDisk,
    private readonly registry: Registry,
    private readonly report: Report,
  ) {}

  /** Sees a message as it is written. */
  hear(said: Said): void {
    const toOfferer = said.direction === 'down' ? said.to === 'global' : said.to === 'zone';
    if (toOfferer) this.checkAnswer(said);
    else this.remember(said);
  }

  private remember({ stream, direction, zone, bytes }: Said): void {
    const { kind: kindName, nonce, resources } = decodeResponse(bytes, CAUSEWAY_DIALECT);
    const kind = this.registry.kind(kindName);
    const sender: Sender = direction === 'down' ? { role: 'global' } : { role: 'zone', zone };
    const sent = resources.flatMap((received): readonly Copy[] => {
      const made = received.ok && kind ? toCopy(received.resource, kind, sender) : undefined;
      return made?.ok ? [made.copy] : [];
    });
    const byNonce = this.sent.get(stream) ?? new Map<string, readonly Copy[]>();
    this.sent.set(stream, byNonce.set(nonce, sent));
  }

  private checkAnswer({ stream, direction, zone, bytes }: Said): void {
    const request = decodeRequest(bytes);
    if (request.type !== 'ack') return;
    const receiver = direction === 'down' ? zone : 'global';
    for (const copy of this.sent.get(stream)?.get(request.nonce) ?? []) {
      const key = identityKey(copy.id);
      const row = this.diskOf(receiver).rows.get(key);
      if (row && holds(row, copy)) continue;
      const { revision } = copy.facts.origin;
      const has = row?.origin.revision ?? 'none';
      this.report('I9', `${receiver} acknowledged ${key} of revision ${revision} and has ${has}`);
    }
  }
}

/** Whether a row has all that was sent, or something newer. A relayed copy keeps its revision if its content did not change. */
function holds(row: Row, { labels, spec, status, facts }: Copy): boolean {
  const { incarnation, revision } = facts.origin;
  if (row.origin.incarnation !== incarnation || row.origin.revision >= revision) return true;
  const isSame = row.deletedAt === undefined && row.uid === facts.uid && row.generation === facts.generation;
  return isSame && status === undefined && sameContent(row, { labels, spec });
}
