import { identityKey, type Registry } from '@causeway/resources';
import { CAUSEWAY_DIALECT, copyOf, decodeRequest, decodeResponse, type Sender } from '../../../libs/kds/src/testing';
import type { Said } from '../engine/network';
import type { WatchedDisk } from '../engine/watched-disk';
import type { Report } from './violation';

/** A version of a resource that one side has sent. */
interface Sent {
  readonly key: string;
  readonly incarnation: string;
  readonly revision: number;
}

/** I9 between peers: what is acknowledged is stored, so that no death of the receiver loses it. */
export class AnswerCheck {
  private readonly sent = new WeakMap<object, Map<string, readonly Sent[]>>();

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
    const sent = resources.flatMap((received): Sent[] => {
      const made = received.ok && kind ? copyOf(received.resource, kind, sender) : undefined;
      return made?.ok ? [{ key: identityKey(made.copy.id), ...made.copy.facts.origin }] : [];
    });
    const byNonce = this.sent.get(stream) ?? new Map<string, readonly Sent[]>();
    this.sent.set(stream, byNonce.set(nonce, sent));
  }

  private checkAnswer({ stream, direction, zone, bytes }: Said): void {
    const request = decodeRequest(bytes);
    if (request.type !== 'ack') return;
    const receiver = direction === 'down' ? zone : 'global';
    for (const { key, incarnation, revision } of this.sent.get(stream)?.get(request.nonce) ?? []) {
      const held = this.diskOf(receiver).rows.get(key)?.origin;
      if (held && (held.incarnation !== incarnation || held.revision >= revision)) continue;
      this.report('I9', `${receiver} acknowledged ${key} of revision ${revision} and has ${held?.revision ?? 'none'}`);
    }
  }
}
