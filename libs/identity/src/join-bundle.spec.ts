import fc from 'fast-check';
import { formatJoinBundle, readJoinBundle, type JoinBundle } from './join-bundle';

const bundle: JoinBundle = {
  controlPlanes: ['10.0.0.1:5678', '[fd00::1]:5678'],
  zone: 'east',
  mesh: 'default',
  token: 'a.b.c',
  authority: '-----BEGIN CERTIFICATE-----\nxyz\n-----END CERTIFICATE-----\n',
};

function reasonOf(text: string): string {
  const read = readJoinBundle(text);
  return read.ok ? '' : read.violation.reason;
}

describe('a join bundle', () => {
  it('is one line of plain characters, read as it was written', () => {
    const text = formatJoinBundle(bundle);
    expect(text).toMatch(/^causeway-join-1\.[\w-]+$/);
    expect(readJoinBundle(text)).toEqual({ ok: true, bundle });
    const { authority: _, ...plain } = bundle;
    expect(readJoinBundle(`  ${formatJoinBundle(plain).replace(/(.{40})/g, '$1\r\n')}\n`)).toEqual({
      ok: true,
      bundle: plain,
    });
  });

  const encoded = (value: unknown): string =>
    `causeway-join-1.${Buffer.from(JSON.stringify(value)).toString('base64url')}`;
  it.each([
    ['nothing', '', 'must be what `causeway tokens dataplane --bundle` prints'],
    ['a token', 'a.b.c', 'must be what `causeway tokens dataplane --bundle` prints'],
    ['a later form', 'causeway-join-2.e30', 'is of another version than this agent knows (causeway-join-1)'],
    ['half of it', formatJoinBundle(bundle).slice(0, 60), 'is damaged: copy the whole line'],
    ['no control plane', encoded({ ...bundle, controlPlanes: [] }), 'must name 1 to 16 control planes'],
    ['no token', encoded({ ...bundle, token: '' }), 'must have zone, mesh and token'],
    ['another type', encoded({ ...bundle, authority: 1 }), 'must have its authorities as a text'],
    ['too much', 'x'.repeat(300_000), 'must have at most 262144 characters, has 300000'],
  ])('refuses %s', (_, text, reason) => {
    expect(reasonOf(text)).toBe(reason);
  });

  it('never throws, and shows nothing of what it refuses', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isNamed) => {
        const read = readJoinBundle(isNamed ? `causeway-join-1.${text}` : text);
        if (!read.ok && text.length > 12) expect(read.violation.reason).not.toContain(text);
      }),
    );
  });
});
