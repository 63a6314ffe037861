import { once } from 'node:events';
import { createServer } from 'node:net';
import { listListeningSockets, parseKernelAddress } from '../health/listening-sockets';
import { describePlaintextAccess } from './plaintext-reachable';
import type { LocalAddress } from './local-address';

const isProxy = ({ address, port }: LocalAddress): boolean => address === '10.0.0.7' && port === 80;
const UNKNOWN = 'it must listen on loopback, or have guardInbound (whether the mesh is Strict is not known yet)';
const ANY6 = '0'.repeat(32);

describe('readableAddress', () => {
  it.each([
    ['00000000', '0.0.0.0'],
    ['0100007F', '127.0.0.1'],
    ['0700000A', '10.0.0.7'],
    [ANY6, '::'],
    ['00000000000000000000000001000000', '::1'],
    ['0000000000000000FFFF00000100007F', '127.0.0.1'],
    ['000000FD000000000000000007000000', 'fd00::7'],
  ])('%s is %s', (hex, text) => expect(parseKernelAddress(hex)).toBe(text));
});

describe('plaintextReachable', () => {
  it.each<
    [
      string,
      { servicePort: number; serviceAddress?: string; isGuarded?: boolean; takesPlaintext?: boolean | undefined },
      readonly (readonly [address: string, port: number, uid?: number])[],
      string | undefined,
    ]
  >([
    ['loopback only', { servicePort: 8080 }, [['0100007F', 8080]], undefined],
    ['another port at all addresses', { servicePort: 8080 }, [['00000000', 22]], undefined],
    ['all addresses', { servicePort: 8080 }, [['00000000', 8080]], '0.0.0.0:8080'],
    ['all of IPv6, which takes IPv4 too', { servicePort: 8080 }, [[ANY6, 8080]], '[::]:8080'],
    [
      'all addresses, of a proxy that lets everybody in',
      { servicePort: 8080, takesPlaintext: true },
      [['00000000', 8080]],
      undefined,
    ],
    ['all addresses, guarded', { servicePort: 8080, isGuarded: true }, [['00000000', 8080]], undefined],
    [
      'the port of the proxy: its own socket is none of the process',
      { servicePort: 80 },
      [
        ['0700000A', 80],
        ['0100007F', 80],
      ],
      undefined,
    ],
    ['the address of the proxy at another port', { servicePort: 8080 }, [['0700000A', 8080]], '10.0.0.7:8080'],
    [
      'loopback and another address',
      { servicePort: 8080 },
      [
        ['0100007F', 8080],
        ['0700000A', 8080],
      ],
      '10.0.0.7:8080',
    ],
    [
      'loopback only, and the process of another user at another address',
      { servicePort: 8080 },
      [
        ['0100007F', 8080, 7],
        ['0700000A', 8080, 8],
      ],
      undefined,
    ],
    [
      'all addresses, by another user than the one of loopback',
      { servicePort: 8080 },
      [
        ['0100007F', 8080, 7],
        ['00000000', 8080, 8],
      ],
      '0.0.0.0:8080',
    ],
    [
      'IPv6 loopback, written long, and the process of another user',
      { servicePort: 8080, serviceAddress: '0:0:0:0:0:0:0:1' },
      [
        ['00000000000000000000000001000000', 8080, 7],
        ['0700000A', 8080, 8],
      ],
      undefined,
    ],
    [
      'not where its proxy reaches it: whoever is there may be the process',
      { servicePort: 8080, serviceAddress: '127.0.0.2' },
      [
        ['0100007F', 8080, 7],
        ['0700000A', 8080, 8],
      ],
      '10.0.0.7:8080',
    ],
  ])('%s', (_, service, sockets, where) => {
    const reason = describePlaintextAccess(
      { isProxy, serviceAddress: '127.0.0.1', isGuarded: false, isDirect: false, takesPlaintext: false, ...service },
      sockets.map(([address, port, uid = 0]) => ({ address, port, uid })),
    );
    if (where === undefined) expect(reason).toBeUndefined();
    else
      expect(reason).toBe(
        `PlaintextReachable: the process listens at ${where}: it must listen on loopback, or have guardInbound`,
      );
  });

  it('says of a process without a proxy what else can be done', () => {
    const service = { serviceAddress: '10.0.0.7', servicePort: 8080, isProxy, isGuarded: false, isDirect: true };
    const sockets = [{ address: '0700000A', port: 8080, uid: 0 }];
    expect(describePlaintextAccess({ ...service, takesPlaintext: true }, sockets)).toBeUndefined();
    expect(describePlaintextAccess({ ...service, takesPlaintext: false }, sockets)).toBe(
      'PlaintextReachable: the process listens at 10.0.0.7:8080: the plane direct cannot identify callers: ' +
        'use the plane envoy or builtin, or a mesh that is not Strict',
    );
  });

  it('sees a process of this machine', async () => {
    const server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    const at = server.address();
    const servicePort = typeof at === 'object' && at ? at.port : 0;
    const sockets = listListeningSockets() ?? [];
    const reason = describePlaintextAccess(
      {
        serviceAddress: '127.0.0.1',
        servicePort,
        isProxy,
        isGuarded: false,
        isDirect: false,
        takesPlaintext: undefined,
      },
      sockets,
    );
    server.close();
    expect(sockets.find(({ port }) => port === servicePort)?.uid).toBe(process.getuid?.());
    expect(reason).toBe(`PlaintextReachable: the process listens at 0.0.0.0:${servicePort}: ${UNKNOWN}`);
  });
});
