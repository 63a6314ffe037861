import { listCaptureRoutes, renderRuleset, type NetworkPlan } from './ruleset';

const INSTANCE = '0b1c2d3e-0000-4000-8000-000000000001';

describe('rulesetOf', () => {
  it.each<[string, NetworkPlan]>([
    ['an empty plan', {}],
    ['no ranges', { capture: { type: 'redirect', ranges: [], port: 15_001 } }],
    ['nothing to guard', { guard: { ports: [], open: [], users: [0] } }],
  ])('%s needs no table', (_, plan) => {
    expect(renderRuleset(plan, INSTANCE)).toBeUndefined();
    expect(listCaptureRoutes(plan)).toEqual([]);
  });

  it('redirects the ranges, and refuses what is left of them', () => {
    const plan: NetworkPlan = {
      capture: { type: 'redirect', ranges: ['241.0.0.0/8', '243.0.0.0/8', 'fd00:fd::/64'], port: 15_001 },
    };
    expect(renderRuleset(plan, INSTANCE)).toBe(`table inet causeway
delete table inet causeway
table inet causeway {
  comment "causeway-agent ${INSTANCE}"
  set virtual4 {
    type ipv4_addr; flags interval; auto-merge
    elements = { 241.0.0.0/8, 243.0.0.0/8 }
  }
  set virtual6 {
    type ipv6_addr; flags interval; auto-merge
    elements = { fd00:fd::/64 }
  }
  chain connect {
    type nat hook output priority -100; policy accept;
    ip daddr @virtual4 meta l4proto tcp redirect to :15001
    ip6 daddr @virtual6 meta l4proto tcp redirect to :15001
  }
  chain refuse {
    type filter hook output priority filter; policy accept;
    ip daddr @virtual4 meta l4proto tcp reject with tcp reset
    ip daddr @virtual4 reject with icmpx port-unreachable
    ip6 daddr @virtual6 meta l4proto tcp reject with tcp reset
    ip6 daddr @virtual6 reject with icmpx port-unreachable
  }
}
`);
    expect(listCaptureRoutes(plan)).toEqual([
      { family: '-4', line: 'route add 241.0.0.0/8 dev lo proto 199 src 127.0.0.1' },
      { family: '-4', line: 'route add 243.0.0.0/8 dev lo proto 199 src 127.0.0.1' },
      { family: '-6', line: 'route add fd00:fd::/64 dev lo proto 199 src ::1' },
    ]);
  });

  it('redirects what some users dial to ports of theirs, and all else to that of everybody, if there is one', () => {
    const byUser = [{ users: ['web', '1001', 'web'], port: 15_021 }];
    const chainOf = (port?: number): readonly string[] => {
      const capture = {
        type: 'redirect' as const,
        ranges: ['241.0.0.0/8'],
        byUser,
        ...(port !== undefined && { port }),
      };
      const text = renderRuleset({ capture }, INSTANCE) ?? '';
      return text.split('\n').filter((line) => line.includes('redirect to'));
    };
    const ofUser = '    ip daddr @virtual4 meta l4proto tcp meta skuid { "web", 1001 } redirect to :15021';
    expect(chainOf(15_001)).toEqual([ofUser, '    ip daddr @virtual4 meta l4proto tcp redirect to :15001']);
    expect(chainOf()).toEqual([ofUser]);
  });

  it('refuses what users dial who must not be taken for others', () => {
    const text =
      renderRuleset({ capture: { type: 'listen', ranges: ['241.0.0.0/8'], refused: ['web'] } }, INSTANCE) ?? '';
    expect(text).toContain('type filter hook output priority filter; policy accept;');
    expect(text).toContain('ip daddr @virtual4 meta l4proto tcp meta skuid { "web" } reject with tcp reset');
  });

  it('needs no route to loopback', () => {
    expect(listCaptureRoutes({ capture: { type: 'listen', ranges: ['127.241.0.0/16', '241.0.0.0/8'] } })).toEqual([
      { family: '-4', line: 'route add local 241.0.0.0/8 dev lo proto 199 src 127.0.0.1' },
    ]);
  });

  it('shows servers the address of the machine where addresses are translated', () => {
    const capture = { type: 'translate', ranges: ['241.0.0.0/8', 'fd00:fd::/64'], sources: ['10.0.0.7'] } as const;
    expect(listCaptureRoutes({ capture })).toEqual([
      { family: '-4', line: 'route add 241.0.0.0/8 dev lo proto 199 src 10.0.0.7' },
      { family: '-6', line: 'route add fd00:fd::/64 dev lo proto 199' },
    ]);
  });

  it('names each port, address and user once', () => {
    const text = renderRuleset(
      {
        guard: {
          ports: [6379, 80, 6379],
          open: [
            { address: '10.0.0.7', port: 80 },
            { address: 'fd00::7', port: 80 },
            { address: '10.0.0.7', port: 80 },
          ],
          users: [997, 0, 997],
        },
      },
      INSTANCE,
    );
    expect(text).toContain('elements = { 80, 6379 }');
    expect(text).toContain('elements = { 10.0.0.7 . 80 }');
    expect(text).toContain('elements = { fd00::7 . 80 }');
    expect(text).toContain('meta skuid != { 0, 997 } reject with tcp reset');
  });
});
