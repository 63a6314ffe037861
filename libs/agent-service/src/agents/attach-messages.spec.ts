import { createHash } from 'node:crypto';
import { LEASED_BY, REGISTERED_BY } from '@causeway/controllers';
import { Registration } from '@causeway/proto-gen';
import { Invalid } from '@causeway/resources';
import { readAgent, readName, readRegistration } from './attach-messages';

const SPEC = {
  networking: { address: '10.0.0.7', inbound: [{ port: 1 }, { port: 2 }, { port: 3, state: 'Ignored' }] },
};
const agent = { instance: 'i', run: 'r', startedAt: 5, machine: 'vm-1', version: '1', secret: '' };
const nobody = { instance: '', run: '', startedAt: 0, machine: '', version: '', secret: '' };
const health = { ready: true, check: 'tcp 127.0.0.1:1', reason: '', since: 7, plaintextReachable: false };
const registration = (more: object): Registration =>
  Registration.fromPartial({ version: 3, specJson: JSON.stringify(SPEC), ...more });

/** `field: rule`, of each violation. */
function problems(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof Invalid) return error.violations.map(({ field, rule }) => `${field}: ${rule}`);
    throw error;
  }
}

describe('what an agent says when it attaches', () => {
  it('is who it is, from where it speaks', () => {
    const { version: _, secret: __, ...facts } = agent;
    expect(readAgent(agent, '10.0.0.7')).toEqual({ agent: { ...facts, address: '10.0.0.7' } });
    const secret = 's'.repeat(43);
    expect(readAgent({ ...agent, secret }, '10.0.0.7')).toEqual({
      agent: { ...facts, address: '10.0.0.7' },
      secretHash: createHash('sha256').update(secret).digest('hex'),
    });
    expect(readName({ mesh: 'm', namespace: '', name: 'n' })).toEqual({ mesh: 'm', namespace: 'default', name: 'n' });
    expect(readName({ mesh: 'm', namespace: 'x', name: 'n' })).toEqual({ mesh: 'm', namespace: 'x', name: 'n' });
  });

  it('has no text that a terminal obeys', () => {
    const hostile = 'a\u001b]0;x\u0007\u009b\u202E\nb';
    const inbounds = [{ ...health, inbound: 0, check: hostile, reason: hostile }];
    const unobeyed = [{ name: hostile, what: hostile }];
    const read = readRegistration(registration({ inbounds, unobeyed, clientDataplane: hostile }));
    const shown = 'a?]0;x??? b';
    expect(read.health).toEqual([
      { inbound: 0, ready: true, check: shown, reason: shown, since: 7 },
      { name: shown, what: shown },
      { clientDataplane: shown },
    ]);
    expect(readAgent({ ...agent, machine: hostile }, '10.0.0.7').agent.machine).toBe(shown);
    // Leases are compared by these: they are refused.
    expect(problems(() => readAgent({ ...agent, instance: hostile, run: hostile }, '10.0.0.7'))).toEqual([
      'agent.instance: wrong-form',
      'agent.run: wrong-form',
    ]);
  });

  it('is a Dataplane whose inbounds that are down are not ready, without the labels of its owner', () => {
    const inbounds = [0, 2].map((inbound) => ({ ...health, inbound, ready: false, reason: 'refused' }));
    const labels = { team: 'db', [LEASED_BY]: 'thief', [REGISTERED_BY]: 'thief' };
    const unobeyed = [{ name: 'outbound:1', what: 'headers' }];
    expect(readRegistration(registration({ labels, inbounds, unobeyed }))).toEqual({
      version: 3,
      token: '',
      labels: { team: 'db' },
      spec: {
        networking: {
          address: '10.0.0.7',
          inbound: [{ port: 1, state: 'NotReady' }, { port: 2 }, { port: 3, state: 'Ignored' }],
        },
      },
      health: [
        ...[0, 2].map((inbound) => ({ inbound, ready: false, check: health.check, reason: 'refused', since: 7 })),
        ...unobeyed,
      ],
    });
  });

  it.each([
    ['an inbound that the spec has not', JSON.stringify(SPEC), SPEC],
    ['a spec without inbounds', '{"networking": {}}', { networking: {} }],
    ['a spec with none that is a list', '{"networking": {"inbound": 1}}', { networking: { inbound: 1 } }],
    ['a spec without networking', '{"networking": 1}', { networking: 1 }],
  ])('leaves to admission what is wrong with %s', (_, specJson, spec) => {
    const inbounds = [{ ...health, inbound: 9, ready: false }];
    expect(readRegistration(registration({ specJson, inbounds })).spec).toEqual(spec);
  });

  const long = (length: number): string => 'x'.repeat(length);
  const many = (length: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length }, (_, n) => [`l${n}`, '']));
  it.each<[string, () => unknown, readonly string[]]>([
    [
      'nobody',
      () => readAgent(nobody, ''),
      ['agent.instance: required', 'agent.run: required', 'agent.machine: required', 'agent.started_at: required'],
    ],
    [
      'an agent with long names',
      () => readAgent({ ...agent, instance: long(65), run: long(65), machine: long(257) }, ''),
      ['agent.instance: too-long', 'agent.run: too-long', 'agent.machine: too-long'],
    ],
    [
      'a secret that can be guessed',
      () => readAgent({ ...agent, secret: 's'.repeat(31) }, ''),
      ['agent.secret: too-short'],
    ],
    ['a long secret', () => readAgent({ ...agent, secret: long(129) }, ''), ['agent.secret: too-long']],
    ['no Dataplane', () => readName(undefined), ['dataplane.mesh: required', 'dataplane.name: required']],
    [
      'long names',
      () => readName({ mesh: long(254), namespace: long(254), name: long(254) }),
      ['dataplane.mesh: too-long', 'dataplane.name: too-long', 'dataplane.namespace: too-long'],
    ],
    [
      'too much of everything, all at once',
      () =>
        readRegistration(
          registration({
            specJson: long(131_073),
            token: long(16_385),
            labels: many(129),
            inbounds: [{ ...health, check: long(257), reason: long(513) }],
            unobeyed: [{ name: long(257), what: '' }],
          }),
        ),
      [
        'spec_json: too-long',
        'token: too-long',
        'labels: too-many',
        'inbounds[0].check: too-long',
        'inbounds[0].reason: too-long',
        'unobeyed[0].name: too-long',
        'unobeyed[0].what: required',
      ],
    ],
    [
      'too many checks and parts',
      () =>
        readRegistration(
          registration({
            inbounds: Array.from({ length: 129 }, () => health),
            unobeyed: Array.from({ length: 65 }, () => ({ name: 'n', what: 'w' })),
          }),
        ),
      ['inbounds: too-many', 'unobeyed: too-many'],
    ],
    ['no spec', () => readRegistration(registration({ specJson: '' })), ['spec_json: required']],
    ['half a spec', () => readRegistration(registration({ specJson: '{' })), ['spec_json: wrong-form']],
    ['a list in place of a spec', () => readRegistration(registration({ specJson: '[]' })), ['spec_json: wrong-form']],
  ])('is refused by field and rule where it is %s', (_, read, want) => {
    expect(problems(read)).toEqual(want);
  });

  it('may be as large as it may', () => {
    const specJson = JSON.stringify({ a: long(131_072 - 8) });
    const inbounds = Array.from({ length: 128 }, () => ({ ...health, check: long(256), reason: long(512) }));
    const unobeyed = Array.from({ length: 64 }, () => ({ name: long(256), what: long(512) }));
    const all = registration({ specJson, labels: many(128), token: long(16_384), inbounds, unobeyed });
    expect(problems(() => readRegistration(all))).toEqual([]);
  });
});
