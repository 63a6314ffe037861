import fc from 'fast-check';
import type { Sendable } from './offer';
import { Outbox } from './outbox';
import type { Message } from './outbox-kind';

const KIND = 'MeshService';

/** What a peer may hold, by identity key. */
class Shelf {
  readonly items = new Map<string, Sendable>();
  at = 0;

  readonly offer = {
    keys: () => [...this.items.keys()],
    get: (key: string) => this.items.get(key),
    revision: () => this.at,
  };

  /** Sets a resource's version, or removes it; what the peer would have been told before. */
  set(key: string, version: string | undefined, size = 1): Sendable | undefined {
    const was = this.items.get(key);
    this.at++;
    if (version === undefined) this.items.delete(key);
    else this.items.set(key, { wireKey: `${key}.`, version, size });
    return was;
  }
}

const said = (message: Message<Sendable> | undefined) =>
  message && {
    part: message.part,
    put: message.put.map(({ wireKey, version }) => `${wireKey}${version}`),
    removed: message.removed,
    nonce: message.nonce,
    revision: message.revision,
  };

describe('Outbox', () => {
  const make = (limits = { bytes: 100, chunked: true }) => {
    const shelf = new Shelf();
    const outbox = new Outbox(shelf.offer, limits);
    const change = (key: string, version: string | undefined, size?: number) =>
      outbox.mark(KIND, key, shelf.set(key, version, size));
    return { shelf, outbox, change };
  };

  it('says nothing that was not asked for', () => {
    const { outbox, change } = make();
    change('a', '1');
    expect(outbox.take()).toBeUndefined();
    expect(outbox.figures().size).toBe(0);
  });

  it('answers a subscription with the whole state, also when that is empty', () => {
    const { outbox, shelf } = make();
    outbox.subscribe(KIND);
    outbox.subscribe('Mesh');
    shelf.set('a', '1');
    expect(said(outbox.take())).toEqual({ part: 'whole', put: ['a.1'], removed: [], nonce: '1', revision: 1 });
    shelf.items.clear();
    expect(said(outbox.take())).toEqual({ part: 'whole', put: [], removed: [], nonce: '2', revision: 1 });
    expect(outbox.take()).toBeUndefined();
  });

  it('has one message a kind in flight and then sends the latest value only', () => {
    const { outbox, change } = make();
    outbox.subscribe(KIND);
    outbox.take();
    for (const version of ['1', '2', '3']) change('a', version);
    expect(outbox.take()).toBeUndefined();
    expect(outbox.answer(KIND, '7', 0)).toBe(false);
    expect(outbox.take()).toBeUndefined();
    expect(outbox.answer(KIND, '1', 0)).toBe(true);
    expect(said(outbox.take())).toMatchObject({ part: 'change', put: ['a.3'], removed: [] });
  });

  it.each([
    ['what came back to what it was', ['2', '1']],
    ['what came and went', [undefined, '1']],
  ])('sends nothing for %s', (_, versions) => {
    const { outbox, change, shelf } = make();
    shelf.set('a', '1');
    outbox.subscribe(KIND);
    outbox.take();
    outbox.answer(KIND, '1', 0);
    for (const version of versions) change('a', version);
    expect(outbox.take()).toBeUndefined();
    expect(outbox.figures().get(KIND)).toMatchObject({ settled: true, waiting: 0 });
  });

  it('removes what the peer was told and may no longer hold', () => {
    const { outbox, change, shelf } = make();
    shelf.set('a', '1');
    outbox.subscribe(KIND);
    outbox.take();
    outbox.answer(KIND, '1', 0);
    change('a', undefined);
    expect(said(outbox.take())).toMatchObject({ part: 'change', put: [], removed: ['a.'] });
  });

  it('does not send again what was rejected until it changes', () => {
    const { outbox, change } = make();
    outbox.subscribe(KIND);
    outbox.take();
    outbox.answer(KIND, '1', 0);
    change('a', '1');
    outbox.take();
    outbox.answer(KIND, '2', 1);
    expect(outbox.take()).toBeUndefined();
    expect(outbox.figures().get(KIND)).toMatchObject({ rejected: 1, settled: true, acked: 1 });
    change('a', '2');
    expect(said(outbox.take())).toMatchObject({ put: ['a.2'] });
  });

  it('cuts a first state into pieces that wait for their answers', () => {
    const { outbox, shelf, change } = make({ bytes: 10, chunked: true });
    for (const key of ['a', 'b', 'c']) shelf.set(key, '1', 6);
    outbox.subscribe(KIND);
    expect(said(outbox.take())).toMatchObject({ part: 'piece', put: ['a.1'] });
    change('a', '2', 6);
    change('c', '2', 6);
    expect(outbox.take()).toBeUndefined();
    outbox.answer(KIND, '1', 0);
    expect(said(outbox.take())).toMatchObject({ part: 'piece', put: ['b.1'] });
    outbox.answer(KIND, '2', 0);
    expect(said(outbox.take())).toMatchObject({ part: 'whole', put: ['c.2'] });
    expect(outbox.figures().get(KIND)).toMatchObject({ settled: false, waiting: 2 });
    outbox.answer(KIND, '3', 0);
    expect(said(outbox.take())).toMatchObject({ part: 'change', put: ['a.2'] });
  });

  it('sends a first state whole to peers that do not know pieces, and changes below the limit', () => {
    const { outbox, shelf, change } = make({ bytes: 10, chunked: false });
    for (const key of ['a', 'b', 'c']) shelf.set(key, '1', 6);
    outbox.subscribe(KIND);
    expect(said(outbox.take())).toMatchObject({ part: 'whole', put: ['a.1', 'b.1', 'c.1'] });
    outbox.answer(KIND, '1', 0);
    for (const key of ['a', 'b']) change(key, '2', 6);
    expect(said(outbox.take())).toMatchObject({ put: ['a.2'] });
    outbox.answer(KIND, '2', 0);
    expect(said(outbox.take())).toMatchObject({ put: ['b.2'] });
  });

  it('lets kinds take turns', () => {
    const { outbox, change } = make();
    for (const kind of [KIND, 'Mesh']) outbox.subscribe(kind);
    expect([outbox.take(), outbox.take()].map((message) => message?.kind)).toEqual([KIND, 'Mesh']);
    outbox.answer('Mesh', '2', 0);
    outbox.answer(KIND, '1', 0);
    change('a', '1');
    expect(outbox.take()?.kind).toBe(KIND);
  });

  it('remembers of what waits no more than name and version', () => {
    const { outbox, shelf } = make();
    outbox.subscribe(KIND);
    outbox.take();
    const was = { ...(shelf.set('a', '1') ?? { wireKey: 'a.', version: '0' }), size: 1, bytes: Buffer.alloc(1) };
    outbox.mark(KIND, 'a', was);
    expect(JSON.stringify([...Reflect.get(Reflect.get(outbox, 'kinds').get(KIND), 'dirty')])).not.toContain('Buffer');
  });

  it('brings a peer to what it may hold, whatever happens in between', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const op = fc.oneof(
      fc.record({
        type: fc.constant('set' as const),
        key,
        version: fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined }),
      }),
      fc.constant({ type: 'subscribe' as const }),
      fc.constant({ type: 'take' as const }),
      fc.constant({ type: 'answer' as const }),
    );
    fc.assert(
      fc.property(
        fc.array(op, { maxLength: 60 }),
        fc.integer({ min: 1, max: 30 }),
        fc.boolean(),
        (ops, bytes, chunked) => {
          const { outbox, shelf, change } = make({ bytes, chunked });
          const peer = new Peer();
          for (const step of [...ops, { type: 'subscribe' as const }]) {
            if (step.type === 'set') change(step.key, step.version, 6);
            if (step.type === 'subscribe') outbox.subscribe(KIND);
            if (step.type === 'take') peer.receive(outbox.take());
            if (step.type === 'answer') peer.answer(outbox);
          }
          for (let message = outbox.take(); message; message = outbox.take()) {
            peer.receive(message);
            peer.answer(outbox);
          }
          expect(peer.held).toEqual(
            new Map([...shelf.items.values()].map(({ wireKey, version }) => [wireKey, version])),
          );
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** Applies messages as a receiver does. */
class Peer {
  held = new Map<string, string>();
  private seen: Map<string, string> | undefined;
  private nonce: string | undefined;

  receive(message: Message<Sendable> | undefined): void {
    if (!message) return;
    this.nonce = message.nonce;
    if (message.part !== 'change') this.seen ??= new Map();
    for (const { wireKey, version } of message.put) {
      this.held.set(wireKey, version);
      this.seen?.set(wireKey, version);
    }
    for (const wireKey of message.removed) this.held.delete(wireKey);
    if (message.part !== 'whole') return;
    this.held = this.seen ?? new Map();
    this.seen = undefined;
  }

  answer(outbox: Outbox<Sendable>): void {
    if (this.nonce !== undefined) outbox.answer(KIND, this.nonce, 0);
    this.nonce = undefined;
  }
}
