import type { Identity } from '@causeway/resources';
import { Inbox, type InboundChanges, type InboundItem, type InboundMessage } from './inbox';

const KIND = 'MeshService';
const id = (name: string): Identity => ({ kind: KIND, mesh: 'default', zone: 'east', namespace: 'default', name });
const item = (name: string, wireKey = `${name}.default`): InboundItem<string> => ({
  wireKey,
  id: id(name),
  content: name,
});
const message = (
  items: readonly InboundItem<string>[],
  rest: Partial<InboundMessage<string>> = {},
): InboundMessage<string> => ({
  kind: KIND,
  items,
  rejected: [],
  removed: [],
  gone: [],
  more: false,
  resumed: false,
  ...rest,
});
const summary = ({ puts, removed, absent, rejected, completed }: InboundChanges<string>) => ({
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
    expect(summary(inbox.receive(message([item('a')])))).toEqual({
      ...NOTHING,
      puts: ['a'],
      absent: ['b'],
      completed: true,
    });
    expect(inbox.isComplete(KIND)).toBe(true);
    expect(summary(inbox.receive(message([])))).toEqual(NOTHING);
  });

  it('concludes nothing from a piece, and all pieces together are the state', () => {
    const inbox = make('a', 'b', 'c');
    expect(summary(inbox.receive(message([item('a')], { more: true })))).toEqual({ ...NOTHING, puts: ['a'] });
    expect(inbox.isComplete(KIND)).toBe(false);
    expect(summary(inbox.receive(message([item('b')])))).toEqual({
      ...NOTHING,
      puts: ['b'],
      absent: ['c'],
      completed: true,
    });
  });

  it('concludes nothing from what is only the changes since a resume point', () => {
    const inbox = make('a', 'b', 'c');
    const resumed = message([item('a')], { gone: [id('c'), id('x')], resumed: true });
    expect(summary(inbox.receive(resumed))).toEqual({ ...NOTHING, puts: ['a'], removed: ['c'], completed: true });
    expect(summary(inbox.receive(message([], { removed: ['b.default'] })))).toEqual({ ...NOTHING, removed: ['b'] });
  });

  it('keeps what could not be read: it is neither changed nor missing', () => {
    const inbox = make('a', 'b');
    const rejected = [{ wireKey: 'a.default', reason: 'no spec' }];
    expect(summary(inbox.receive(message([], { rejected })))).toEqual({
      ...NOTHING,
      absent: ['b'],
      rejected: ['no spec'],
      completed: true,
    });
  });

  it('removes what is named, and nothing that it does not know', () => {
    const inbox = make('a');
    inbox.receive(message([item('a'), item('b')]));
    expect(summary(inbox.receive(message([], { removed: ['b.default', 'x.default'] })))).toEqual({
      ...NOTHING,
      removed: ['b'],
    });
    expect(summary(inbox.receive(message([], { removed: ['b.default'] })))).toEqual(NOTHING);
  });

  it('takes what is removed and added at once for an update', () => {
    const inbox = make('a');
    inbox.receive(message([item('a')]));
    expect(summary(inbox.receive(message([item('a')], { removed: ['a.default'] })))).toEqual({
      ...NOTHING,
      puts: ['a'],
    });
  });

  it('follows a resource to another name on the wire', () => {
    const inbox = make('a');
    expect(summary(inbox.receive(message([item('a', 'new.default')])))).toEqual({
      ...NOTHING,
      puts: ['a'],
      completed: true,
    });
    expect(summary(inbox.receive(message([item('a', 'newer.default')], { removed: ['new.default'] })))).toEqual({
      ...NOTHING,
      puts: ['a'],
    });
    expect(summary(inbox.receive(message([], { removed: ['a.default', 'new.default'] })))).toEqual(NOTHING);
    expect(summary(inbox.receive(message([], { removed: ['newer.default'] })))).toEqual({ ...NOTHING, removed: ['a'] });
  });

  it.each([
    [
      'two identities under one name',
      item('b', 'a.default'),
      'MeshService east/default/a has the same name on the wire',
    ],
    [
      'one identity under two names',
      item('a', 'z.default'),
      'it is the same MeshService east/default/a as "a.default"',
    ],
  ])('reports %s and overwrites nothing', (_, rival, reason) => {
    const inbox = make();
    expect(summary(inbox.receive(message([item('a'), rival])))).toEqual({
      ...NOTHING,
      puts: ['a'],
      rejected: [reason],
      completed: true,
    });
    expect(summary(inbox.receive(message([rival])))).toEqual({ ...NOTHING, rejected: [reason] });
  });
});
