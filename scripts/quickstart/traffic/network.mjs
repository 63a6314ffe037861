import { createServer } from 'node:net';
import { Failure } from '../../lib/failure.mjs';
import { waitFor } from '../../lib/wait.mjs';

// An earlier start that was killed a moment ago may still be ending.
const PATIENCE_MS = 5_000;

/** The services of the demo: what runs in which zone. */
const MACHINES = [
  { zone: 'east', service: 'catalog' },
  { zone: 'west', service: 'shop' },
];
const PORTS = { inbound: 8080, process: 9080, dns: 5300, ingress: 10_001 };

/**
 * The addresses of the demo, all in `network` (`127.42`), so that no port of the machine is taken: a quarter for the virtual
 * IPs of each zone, the rest for what would be machines elsewhere.
 */
export function demoNetwork(network) {
  return {
    vipRanges: (zone) => {
      const first = 64 * MACHINES.findIndex((machine) => machine.zone === zone);
      return {
        CAUSEWAY_VIP_RANGE_MESHSERVICE: `${network}.${first}.0/19`,
        CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE: `${network}.${first + 32}.0/20`,
        CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE: `${network}.${first + 48}.0/20`,
      };
    },
    // All that proxies without an agent may dial outside the mesh.
    mayDial: { CAUSEWAY_EXTERNAL_MAY_DIAL: `${network}.0.0/16` },
    machines: MACHINES.map(({ zone, service }, n) => ({
      zone,
      service,
      dataplane: `${service}-1`,
      address: `${network}.128.${n + 1}`,
      port: PORTS.inbound,
      processPort: PORTS.process,
      dnsPort: PORTS.dns,
    })),
    ingresses: MACHINES.map(({ zone }, n) => ({ zone, address: `${network}.129.${n + 1}`, port: PORTS.ingress })),
  };
}

/** Whether every address of 127.0.0.0/8 is this machine's: on Linux it is, on macOS only 127.0.0.1. */
export async function answersLoopback({ ingresses: [{ address }] }) {
  return (await listenError(address, 0)) !== 'EADDRNOTAVAIL';
}

/** A Failure where something else has the addresses of the demo. */
export async function requireFreeAddresses({ machines, ingresses }, signal) {
  const wanted = [
    ...machines.flatMap(({ address, port, processPort, dnsPort }) =>
      [port, processPort, dnsPort].map((each) => ({ address, port: each })),
    ),
    ...ingresses,
  ];
  for (const { address, port } of wanted) {
    const isFree = async () => (await listenError(address, port)) === undefined;
    if (await waitFor(isFree, { timeoutMs: PATIENCE_MS, signal })) continue;
    throw new Failure(
      `${address}:${port} is taken, the demo needs it: set CAUSEWAY_DEMO_NETWORK to another network, 127.43 for instance`,
    );
  }
}

/** The code of the error of listening there; undefined where it works. */
function listenError(host, port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', ({ code }) => resolve(code));
    probe.listen({ host, port }, () => probe.close(() => resolve(undefined)));
  });
}
