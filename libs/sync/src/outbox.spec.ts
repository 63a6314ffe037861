import fc from 'fast-check';
import type { ResourceKey } from '@causeway/resources';
import { Outbox } from './outbox';
import { KeyedStateBlocks } from './state-blocks';
import { MAX_MESSAGE_ITEMS, type MessageLimits, type OutboundMessage, type OutboundResource } from './outbound-message';

const KIND = 'MeshService';

/** Returns the key of the resource with this name. */
const keyOf = (name: string): ResourceKey => `${name}////`;
const nameOf = (key: ResourceKey): string => key.slice(0, -4);

/** Resources that a peer may hold, by identity key. */
class Shelf {
  readonly items = new Map<ResourceKey, OutboundResource>();
  at = 0;
  time = 0;

  readonly source = {
    initialState: (_: string, since: number | undefined, limits: MessageLimits) =>
      new KeyedStateBlocks({ keys: this.keys(since), get: this.source.get, resumed: since !== undefined }, limits),
    get: (key: ResourceKey) => this.items.get(key),
    revision: () => this.at,
    now: () => this.time,
  };
  private readonly changedAt = new Map<ResourceKey, number>();

  private keys(since: number | undefined): readonly ResourceKey[] {
    if (since === undefined) return [...this.items.keys()];
    return [...this.changedAt].filter(([, at]) => at > since).map(([key]) => key);
  }

  /** Sets a resource's version, or removes it; returns what would have been sent to the peer before. */
  set(name: string, version: string | undefined, size = 1): OutboundResource | undefined {
    const key = keyOf(name);
    const was = this.items.get(key);
    this.changedAt.set(key, ++this.at);
    if (version === undefined) this.items.delete(key);
    else this.items.set(key, { wireKey: `${name}.`, version, size });
    return was;
  }
}

const summary = (message: OutboundMessage<OutboundResource> | undefined) =>
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
    const outbox = new Outbox(shelf.source, limits);
    const change = (key: string, version: string | undefined, size?: number) =>
      outbox.mark(KIND, keyOf(key), shelf.set(key, version, size));
    return { shelf, outbox, change };
  };

  it('sends nothing that was not requested', () => {
    const { outbox, change } = make();
    change('a', '1');
    expect(outbox.take()).toBeUndefined();
    expect(outbox.progress().size).toBe(0);
  });

  it('answers a subscription with the whole state, also when that is empty', () => {
    const { outbox, shelf } = make();
    outbox.subscribe(KIND);
    outbox.subscribe('Mesh');
    shelf.set('a', '1');
    expect(summary(outbox.take())).toEqual({ part: 'last-chunk', put: ['a.1'], removed: [], nonce: '1', revision: 1 });
    shelf.items.clear();
    expect(summary(outbox.take())).toEqual({ part: 'last-chunk', put: [], removed: [], nonce: '2', revision: 1 });
    expect(outbox.take()).toBeUndefined();
  });

  it('sends one change of a zone before the remaining changes of another zone’s flood', () => {
    const { outbox, change } = make({ bytes: 10, chunked: true });
    outbox.subscribe(KIND);
    const first = outbox.take();
    outbox.acknowledge(KIND, first?.nonce ?? '', []);
    for (let i = 0; i < 1_000; i++) change(`${KIND}/default/flooding/default/${i}`, '1');
    change(`${KIND}/default/east/default/redis`, '1');
    expect(outbox.take()?.put.map(({ wireKey }) => wireKey)).toContain(`${KIND}/default/east/default/redis.`);
  });

  it('has one message a kind in flight and then sends the latest value only', () => {
    const { outbox, change } = make();
    outbox.subscribe(KIND);
    outbox.take();
    for (const version of ['1', '2', '3']) change('a', version);
    expect(outbox.take()).toBeUndefined();
    expect(outbox.acknowledge(KIND, '7', [])).toBe(false);
    expect(outbox.take()).toBeUndefined();
    expect(outbox.acknowledge(KIND, '1', [])).toBe(true);
    expect(summary(outbox.take())).toMatchObject({ part: 'change', put: ['a.3'], removed: [] });
  });

  it.each([
    ['what came back to what it was', ['2', '1']],
    ['what came and went', [undefined, '1']],
  ])('sends nothing for %s', (_, versions) => {
    const { outbox, change, shelf } = make();
    shelf.set('a', '1');
    outbox.subscribe(KIND);
    outbox.take();
    outbox.acknowledge(KIND, '1', []);
    for (const version of versions) change('a', version);
    expect(outbox.take()).toBeUndefined();
    expect(outbox.progress().get(KIND)).toMatchObject({ waiting: 0 });
  });

  it('removes what the peer was sent and may no longer hold', () => {
    const { outbox, change, shelf } = make();
    shelf.set('a', '1');
    outbox.subscribe(KIND);
    outbox.take();
    outbox.acknowledge(KIND, '1', []);
    change('a', undefined);
    expect(summary(outbox.take())).toMatchObject({ part: 'change', put: [], removed: ['a.'] });
  });

  it('does not send again what was rejected until it changes', () => {
    const { outbox, change } = make();
    outbox.subscribe(KIND);
    outbox.take();
    outbox.acknowledge(KIND, '1', []);
    change('a', '1');
    outbox.take();
    outbox.acknowledge(KIND, '2', [{ wireKey: 'a.', reason: 'bad' }]);
    expect(outbox.take()).toBeUndefined();
    expect(outbox.progress().get(KIND)).toMatchObject({
      rejected: 1,
      rejections: [{ wireKey: 'a.', reason: 'bad' }],
      waiting: 0,
      acked: 1,
    });
    change('a', '2');
    expect(summary(outbox.take())).toMatchObject({ put: ['a.2'] });
    outbox.acknowledge(KIND, '3', []);
    expect(outbox.progress().get(KIND)).toMatchObject({ rejected: 1, rejections: [] });
  });

  it('cuts a first state into pieces that wait for their answers', () => {
    const { outbox, shelf, change } = make({ bytes: 10, chunked: true });
    for (const key of ['a', 'b', 'c']) shelf.set(key, '1', 6);
    outbox.subscribe(KIND);
    expect(summary(outbox.take())).toMatchObject({ part: 'chunk', put: ['a.1'] });
    change('a', '2', 6);
    change('c', '2', 6);
    expect(outbox.take()).toBeUndefined();
    outbox.acknowledge(KIND, '1', []);
    expect(summary(outbox.take())).toMatchObject({ part: 'chunk', put: ['b.1'] });
    outbox.acknowledge(KIND, '2', []);
    expect(summary(outbox.take())).toMatchObject({ part: 'last-chunk', put: ['c.2'] });
    expect(outbox.progress().get(KIND)).toMatchObject({ waiting: 2 });
    outbox.acknowledge(KIND, '3', []);
    expect(summary(outbox.take())).toMatchObject({ part: 'change', put: ['a.2'] });
  });

  it('sends a first state whole to peers that do not know pieces, and changes below the limit', () => {
    const { outbox, shelf, change } = make({ bytes: 10, chunked: false });
    for (const key of ['a', 'b', 'c']) shelf.set(key, '1', 6);
    outbox.subscribe(KIND);
    expect(summary(outbox.take())).toMatchObject({ part: 'last-chunk', put: ['a.1', 'b.1', 'c.1'] });
    outbox.acknowledge(KIND, '1', []);
    for (const key of ['a', 'b']) change(key, '2', 6);
    expect(summary(outbox.take())).toMatchObject({ put: ['a.2'] });
    outbox.acknowledge(KIND, '2', []);
    expect(summary(outbox.take())).toMatchObject({ put: ['b.2'] });
  });

  it('lets kinds take turns', () => {
    const { outbox, change } = make();
    for (const kind of [KIND, 'Mesh']) outbox.subscribe(kind);
    expect([outbox.take(), outbox.take()].map((message) => message?.kind)).toEqual([KIND, 'Mesh']);
    outbox.acknowledge('Mesh', '2', []);
    outbox.acknowledge(KIND, '1', []);
    change('a', '1');
    expect(outbox.take()?.kind).toBe(KIND);
  });

  it('answers who asks again with what is new, also with nothing, and forgets no removal', () => {
    const { outbox, shelf, change } = make();
    shelf.set('a', '1');
    outbox.subscribe(KIND);
    outbox.take();
    change('a', undefined);
    outbox.subscribe(KIND);
    outbox.acknowledge(KIND, '1', []);
    expect(summary(outbox.take())).toMatchObject({ part: 'change', removed: ['a.'] });
    outbox.acknowledge(KIND, '2', []);
    outbox.subscribe(KIND);
    expect(summary(outbox.take())).toMatchObject({ part: 'change', put: [], removed: [] });
  });

  it('sends a resuming peer only later changes and deletions', () => {
    const { outbox, shelf, change } = make({ bytes: 11, chunked: true });
    for (const key of ['a', 'b', 'c', 'd']) shelf.set(key, '1', 6);
    const since = shelf.at;
    shelf.set('b', '2', 6);
    shelf.set('c', undefined);
    shelf.set('d', '2', 6);
    outbox.subscribe(KIND, since);
    const first = outbox.take();
    expect(first).toMatchObject({ part: 'chunk', resumed: true, gone: [keyOf('c')], removed: [] });
    change('b', '3', 6);
    outbox.acknowledge(KIND, '1', []);
    const second = outbox.take();
    expect(second).toMatchObject({ part: 'last-chunk', resumed: true, gone: [] });
    expect([first, second].map((message) => summary(message)?.put)).toEqual([['b.2'], ['d.2']]);
    outbox.acknowledge(KIND, '2', []);
    expect(summary(outbox.take())).toMatchObject({ part: 'change', put: ['b.3'] });
  });

  it('names a revision only when the peer knows all of it', () => {
    const { outbox, shelf, change } = make({ bytes: 10, chunked: true });
    for (const key of ['a', 'b']) shelf.set(key, '1', 6);
    outbox.subscribe(KIND);
    expect(outbox.take()).toMatchObject({ part: 'chunk', revision: 0 });
    for (const key of ['a', 'c']) change(key, '2', 6);
    outbox.acknowledge(KIND, '1', []);
    expect(outbox.take()).toMatchObject({ part: 'last-chunk', revision: 0 });
    outbox.acknowledge(KIND, '2', []);
    expect(outbox.take()).toMatchObject({ put: [{ wireKey: 'a.' }], revision: 0 });
    outbox.acknowledge(KIND, '3', []);
    expect(outbox.take()).toMatchObject({ put: [{ wireKey: 'c.' }], revision: shelf.at });
  });

  it('reports its revision when a bookmark is requested', () => {
    const { outbox } = make();
    outbox.requestBookmark(KIND);
    outbox.subscribe(KIND);
    outbox.requestBookmark(KIND);
    expect(outbox.take()).toMatchObject({ part: 'last-chunk' });
    outbox.acknowledge(KIND, '1', []);
    expect(outbox.take()).toBeUndefined();
    outbox.requestBookmark(KIND);
    expect(outbox.take()).toMatchObject({ part: 'change', put: [], removed: [] });
  });

  it('knows since when the peer is behind and when it last moved', () => {
    const { outbox, shelf, change } = make();
    const progress = () => outbox.progress().get(KIND);
    outbox.subscribe(KIND);
    shelf.time = 10;
    outbox.take();
    expect(progress()).toMatchObject({ behindSince: 10, movedAt: 10 });
    shelf.time = 20;
    change('a', '1');
    outbox.acknowledge(KIND, '1', []);
    expect(progress()).toMatchObject({ behindSince: 10, movedAt: 20 });
    outbox.take();
    shelf.time = 30;
    outbox.acknowledge(KIND, '2', []);
    expect(progress()).not.toHaveProperty('behindSince');
    shelf.time = 40;
    change('a', '2');
    change('a', '1');
    expect(progress()).toMatchObject({ behindSince: 40, movedAt: 40 });
    outbox.take();
    expect(progress()).not.toHaveProperty('behindSince');
  });

  it('remembers of what waits no more than name and version', () => {
    const { outbox, shelf } = make();
    outbox.subscribe(KIND);
    outbox.take();
    const was = { ...(shelf.set('a', '1') ?? { wireKey: 'a.', version: '0' }), size: 1, bytes: Buffer.alloc(1) };
    outbox.mark(KIND, keyOf('a'), was);
    expect(JSON.stringify([...Reflect.get(Reflect.get(outbox, 'kinds').get(KIND), 'dirty')])).not.toContain('Buffer');
  });

  it('brings a peer to what it may hold, whatever happens in between, also over cut streams', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const version = fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined });
    const op = fc.oneof(
      fc.record({ type: fc.constant('set' as const), key, version }),
      fc.constantFrom('subscribe', 'take', 'answer', 'cut').map((type) => ({ type: type })),
    );
    fc.assert(
      fc.property(
        fc.array(op, { maxLength: 60 }),
        fc.integer({ min: 1, max: 30 }),
        fc.boolean(),
        (ops, bytes, chunked) => {
          const shelf = new Shelf();
          const peer = new Peer(() => new Outbox(shelf.source, { bytes, chunked }));
          for (const step of ops) {
            if (step.type === 'set') peer.outbox.mark(KIND, keyOf(step.key), shelf.set(step.key, step.version, 6));
            if (step.type === 'subscribe') peer.subscribe();
            if (step.type === 'take') peer.take();
            if (step.type === 'answer') peer.answer();
            if (step.type === 'cut') peer.reconnect();
          }
          peer.subscribe();
          do peer.answer();
          while (peer.take());
          expect(peer.held).toEqual(new Map([...shelf.items].map(([key, item]) => [nameOf(key), item.version])));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

/** Applies messages as a receiver does, and resumes where it can. */
class Peer {
  outbox: Outbox<OutboundResource>;
  readonly held = new Map<string, string>();
  private unseen: Set<string> | undefined = new Set();
  private nonce: string | undefined;
  private point: number | undefined;

  constructor(private readonly connect: () => Outbox<OutboundResource>) {
    this.outbox = connect();
  }

  reconnect(): void {
    this.outbox = this.connect();
    this.unseen = new Set(this.held.keys());
    this.nonce = undefined;
  }

  subscribe(): void {
    this.outbox.subscribe(KIND, this.point);
  }

  answer(): void {
    if (this.nonce !== undefined) this.outbox.acknowledge(KIND, this.nonce, []);
    this.nonce = undefined;
  }

  take(): boolean {
    const message = this.outbox.take();
    if (!message) return false;
    this.nonce = message.nonce;
    for (const { wireKey, version } of message.put) this.hold(wireKey.slice(0, -1), version);
    for (const key of [...message.removed.map((wireKey) => wireKey.slice(0, -1)), ...message.gone.map(nameOf)])
      this.hold(key, undefined);
    if (message.part === 'last-chunk') {
      if (!message.resumed) for (const key of this.unseen ?? []) this.held.delete(key);
      this.unseen = undefined;
    }
    if (message.revision > 0) this.point = message.revision;
    return true;
  }

  private hold(key: string, version: string | undefined): void {
    if (version === undefined) this.held.delete(key);
    else this.held.set(key, version);
    this.unseen?.delete(key);
  }
}

describe('an Outbox with very many keys', () => {
  const make = (chunked: boolean): { readonly shelf: Shelf; readonly outbox: Outbox<OutboundResource> } => {
    const shelf = new Shelf();
    for (let i = 0; i < MAX_MESSAGE_ITEMS + 5; i++) shelf.set(`k${i}`, '1', 0);
    return { shelf, outbox: new Outbox(shelf.source, { bytes: 1_000_000, chunked }) };
  };
  const answer = (outbox: Outbox<OutboundResource>, message: OutboundMessage<OutboundResource> | undefined): void =>
    void outbox.acknowledge(KIND, message?.nonce ?? '', []);

  it('cuts a first state and removals by number, and never claims before the end that it is complete', () => {
    const { shelf, outbox } = make(true);
    outbox.subscribe(KIND);
    const sizes: unknown[] = [];
    const next = (): void => {
      const message = outbox.take();
      sizes.push([message?.put.length, message?.removed.length, message?.part, message?.revision === shelf.at]);
      answer(outbox, message);
    };
    next();
    next();
    for (let i = 0; i < MAX_MESSAGE_ITEMS + 5; i++) outbox.mark(KIND, keyOf(`k${i}`), shelf.set(`k${i}`, undefined));
    next();
    next();
    expect(sizes).toEqual([
      [MAX_MESSAGE_ITEMS, 0, 'chunk', false],
      [5, 0, 'last-chunk', true],
      [0, MAX_MESSAGE_ITEMS, 'change', false],
      [0, 5, 'change', true],
    ]);
  });

  it('sends a peer that takes no pieces the whole first state', () => {
    const { outbox } = make(false);
    outbox.subscribe(KIND);
    expect(outbox.take()?.put).toHaveLength(MAX_MESSAGE_ITEMS + 5);
  });

  it('names what is gone in pieces to a peer that resumes', () => {
    const { shelf, outbox } = make(true);
    const at = shelf.at;
    for (let i = 0; i < MAX_MESSAGE_ITEMS + 5; i++) shelf.set(`k${i}`, undefined);
    outbox.subscribe(KIND, at);
    const first = outbox.take();
    answer(outbox, first);
    expect([first?.gone.length, first?.part, outbox.take()?.gone.length]).toEqual([MAX_MESSAGE_ITEMS, 'chunk', 5]);
  });
});
