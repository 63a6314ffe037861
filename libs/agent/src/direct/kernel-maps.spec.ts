import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { NetworkFailure } from '../capture/network-tools';
import { countConnections, KernelMaps } from './kernel-maps';
import { formatServiceKey, type DirectService } from '../capture/service-maps';

const service = (last: number, to = '10.0.0.1'): readonly [string, DirectService] => {
  const at = { address: `241.0.0.${last}`, port: 80 };
  return [formatServiceKey(at), { at, endpoints: [{ address: to, port: 8080, weight: 1 }] }];
};

/** A kernel that records transactions, and takes them when it is let. */
function kernel() {
  const received: string[] = [];
  let refusals = 0;
  let held: (() => void) | undefined;
  let isHolding = false;
  let trial = (text: string): string => 'Device or resource busy\n'.repeat(text.split('delete map').length - 1);
  return {
    received,
    try: (answer: (text: string) => string) => (trial = answer),
    refuse: (times: number) => (refusals = times),
    hold: () => (isHolding = true),
    release: () => {
      isHolding = false;
      held?.();
    },
    claim: () => Promise.resolve(),
    tools: {
      run: async (_program: 'nft' | 'ip', args: readonly string[], text = '') => {
        if (args[0] === '-c') throw new NetworkFailure('nft failed', trial(text));
        if (isHolding) await new Promise<void>((resolve) => (held = resolve));
        if (refusals-- > 0) throw new NetworkFailure('nft failed', 'No such file or directory');
        received.push(text);
        return '';
      },
    },
  };
}

describe('KernelMaps', () => {
  const start = async () => {
    const network = kernel();
    const clock = new FakeClock(1_000);
    const maps = new KernelMaps({ network, instance: 'i', clock, logger: silentLogger });
    await maps.begin(new Map([service(1)]));
    return { network, clock, maps };
  };

  it('begins with a table and what is known in one transaction', async () => {
    const { network, maps } = await start();
    expect(network.received).toHaveLength(1);
    expect(network.received[0]).toMatch(
      /^table inet causeway_direct\ndelete table[^]*add element .* 241\.0\.0\.1 \. 80 /,
    );
    const none = { failure: undefined, refusals: 0, restored: 0, restoredAt: undefined };
    expect(maps.state).toEqual({ addresses: 1, slots: 1, loadedAt: 1_000, ...none });
  });

  it('takes what changes while it begins', async () => {
    const network = kernel();
    const maps = new KernelMaps({ network, instance: 'i', clock: new FakeClock(0), logger: silentLogger });
    network.hold();
    const begun = maps.begin(new Map([service(1)]));
    const changed = maps.change(new Map([service(2)]));
    await Promise.resolve();
    network.release();
    await Promise.all([begun, changed]);
    expect(network.received.map((text) => text.match(/goto/g)?.length)).toEqual([2]);
    expect(maps.state.addresses).toBe(2);
  });

  it('makes one transaction of all that changes while another one runs', async () => {
    const { network, maps } = await start();
    network.hold();
    const changes = [2, 3, 4, 5].map((last) => maps.change(new Map([service(last)])));
    await Promise.resolve();
    network.release();
    expect(await Promise.all(changes)).toEqual([undefined, undefined, undefined, undefined]);
    expect(network.received.slice(1).map((text) => text.match(/goto/g)?.length)).toEqual([1, 3]);
    expect(maps.state.addresses).toBe(5);
  });

  it('writes all anew where a change is refused; says why where that is refused too, and tries again', async () => {
    const { network, clock, maps } = await start();
    network.refuse(1);
    expect(await maps.change(new Map([service(2)]))).toBeUndefined();
    expect(network.received[1]).toMatch(/^table inet causeway_direct\n[^]*241\.0\.0\.1 \. 80 .*241\.0\.0\.2 \. 80 /);
    network.refuse(2);
    expect(await maps.change(new Map([service(3)]))).toBe('nft failed');
    clock.advance(1_000);
    await new Promise(setImmediate);
    expect(maps.state).toMatchObject({ addresses: 3, failure: undefined, refusals: 3 });
  });

  it('writes all anew where the kernel would delete a map that a rule is to use, and counts it', async () => {
    const { network, clock, maps } = await start();
    expect(await maps.check()).toBe(false);
    expect(network.received).toHaveLength(1);
    // Two of the three maps are in use: the rules of one chain are gone.
    network.try(() => 'Device or resource busy\n'.repeat(2));
    clock.advance(500);
    expect(await maps.check()).toBe(true);
    expect(network.received[1]).toMatch(/^table inet causeway_direct\n[^]*241\.0\.0\.1 \. 80 /);
    network.try(() => 'No such file or directory');
    expect(await maps.check()).toBe(true);
    expect(maps.state).toMatchObject({ restored: 2, restoredAt: 1_500 });
    network.try(() => 'Operation not permitted');
    await expect(maps.check()).rejects.toThrow('nft failed');
    expect(network.received).toHaveLength(3);
  });

  it('takes nothing for missing that another transaction changes meanwhile', async () => {
    const { network, maps } = await start();
    network.try(() => 'No such file or directory');
    const looked = maps.check();
    await maps.change(new Map([[service(1)[0], undefined]]));
    expect(await looked).toBe(false);
    expect(maps.state.restored).toBe(0);
  });

  it('refuses new connections before it goes, and goes once', async () => {
    const { network, maps } = await start();
    await maps.refuseNew();
    expect(network.received[1]).toContain('delete element inet causeway_direct services4 { 241.0.0.1 . 80 }');
    await maps.remove();
    await maps.remove();
    expect(network.received.slice(2)).toEqual(['table inet causeway_direct\ndelete table inet causeway_direct\n']);
    expect(await maps.change(new Map([service(2)]))).toBeUndefined();
    expect(network.received).toHaveLength(3);
  });
});

it('counts open connections to addresses, in the tables of the kernel', () => {
  const table = [
    '  sl  local_address rem_address   st',
    '   0: 0107070A:1F90 00000000:0000 0A',
    '   1: 0107070A:9000 010000F1:0050 01',
    '   2: 0107070A:9001 010000F1:0050 06',
    '   3: 0107070A:9002 010000F1:0051 01',
    '   4: 0107070A:9003 010000F1:0050 08',
    '',
  ].join('\n');
  expect(countConnections(table, new Set(['241.0.0.1 . 80']))).toBe(2);
  expect(countConnections('', new Set(['241.0.0.1 . 80']))).toBe(0);
});
