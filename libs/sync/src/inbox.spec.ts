import type { Identity } from '@causeway/resources';
import { Inbox } from './inbox';
import type { InboundItem, InboundChanges, InboundMessage } from './inbox-kind';

const KIND = 'MeshService';
const id = (name: string): Identity => ({ kind: KIND, mesh: 'default', zone: 'east', namespace: 'default', name });
const arrival = (name: string, wireKey = `${name}.default`): InboundItem<string> => ({
  wireKey,
  id: id(name),
  content: name,
});
const parcel = (
  arrivals: readonly InboundItem<string>[],
  rest: Partial<InboundMessage<string>> = {},
): InboundMessage<string> => ({
  kind: KIND,
  items: arrivals,
  rejected: [],
  removed: [],
  gone: [],
  more: false,
  resumed: false,
  ...rest,
});
const said = ({ puts, removed, absent, rejected, completed }: InboundChanges<string>) => ({
  puts: puts.map(({ content }) => content),
  removed: removed.map(({ name }) => name),
  absent: absent.map(({ name }) => name),
  rejected: rejected.map(({ reason }) => reason),
  completed,
});
const NOTHING = { puts: [], removed: [], absent: [], rejected: [], completed: false };

describe('Inbox', () => {
  const make = (...names: string[]) =>
    new Inbox<string>(() => names.map((name) => ({ wireKey: `${name}.default`, id: id(name) })));

  it('takes absence in a complete first state for deletion, once', () => {
    const inbox = make('a', 'b');
    expect(said(inbox.receive(parcel([arrival('a')])))).toEqual({
      ...NOTHING,
      puts: ['a'],
      absent: ['b'],
      completed: true,
    });
    expect(inbox.isComplete(KIND)).toBe(true);
    expect(said(inbox.receive(parcel([])))).toEqual(NOTHING);
  });

  it('concludes nothing from a piece, and all pieces together are the state', () => {
    const inbox = make('a', 'b', 'c');
    expect(said(inbox.receive(parcel([arrival('a')], { more: true })))).toEqual({ ...NOTHING, puts: ['a'] });
    expect(inbox.isComplete(KIND)).toBe(false);
    expect(said(inbox.receive(parcel([arrival('b')])))).toEqual({
      ...NOTHING,
      puts: ['b'],
      absent: ['c'],
      completed: true,
    });
  });

  it('concludes nothing from what is only the changes since a resume point', () => {
    const inbox = make('a', 'b', 'c');
    const resumed = parcel([arrival('a')], { gone: [id('c'), id('x')], resumed: true });
    expect(said(inbox.receive(resumed))).toEqual({ ...NOTHING, puts: ['a'], removed: ['c'], completed: true });
    expect(said(inbox.receive(parcel([], { removed: ['b.default'] })))).toEqual({ ...NOTHING, removed: ['b'] });
  });

  it('keeps what could not be read: it is neither changed nor missing', () => {
    const inbox = make('a', 'b');
    const rejected = [{ wireKey: 'a.default', reason: 'no spec' }];
    expect(said(inbox.receive(parcel([], { rejected })))).toEqual({
      ...NOTHING,
      absent: ['b'],
      rejected: ['no spec'],
      completed: true,
    });
  });

  it('removes what is named, and nothing that it does not know', () => {
    const inbox = make('a');
    inbox.receive(parcel([arrival('a'), arrival('b')]));
    expect(said(inbox.receive(parcel([], { removed: ['b.default', 'x.default'] })))).toEqual({
      ...NOTHING,
      removed: ['b'],
    });
    expect(said(inbox.receive(parcel([], { removed: ['b.default'] })))).toEqual(NOTHING);
  });

  it('takes what is removed and added at once for an update', () => {
    const inbox = make('a');
    inbox.receive(parcel([arrival('a')]));
    expect(said(inbox.receive(parcel([arrival('a')], { removed: ['a.default'] })))).toEqual({
      ...NOTHING,
      puts: ['a'],
    });
  });

  it('follows a resource to another name on the wire', () => {
    const inbox = make('a');
    expect(said(inbox.receive(parcel([arrival('a', 'new.default')])))).toEqual({
      ...NOTHING,
      puts: ['a'],
      completed: true,
    });
    expect(said(inbox.receive(parcel([arrival('a', 'newer.default')], { removed: ['new.default'] })))).toEqual({
      ...NOTHING,
      puts: ['a'],
    });
    expect(said(inbox.receive(parcel([], { removed: ['a.default', 'new.default'] })))).toEqual(NOTHING);
    expect(said(inbox.receive(parcel([], { removed: ['newer.default'] })))).toEqual({ ...NOTHING, removed: ['a'] });
  });

  it.each([
    [
      'two identities under one name',
      arrival('b', 'a.default'),
      'MeshService east/default/a has the same name on the wire',
    ],
    [
      'one identity under two names',
      arrival('a', 'z.default'),
      'it is the same MeshService east/default/a as "a.default"',
    ],
  ])('reports %s and overwrites nothing', (_, rival, reason) => {
    const inbox = make();
    expect(said(inbox.receive(parcel([arrival('a'), rival])))).toEqual({
      ...NOTHING,
      puts: ['a'],
      rejected: [reason],
      completed: true,
    });
    expect(said(inbox.receive(parcel([rival])))).toEqual({ ...NOTHING, rejected: [reason] });
  });
});
