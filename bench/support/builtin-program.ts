import { PlaneProcesses } from '@causeway/agent/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { BuiltinProxy } from '../../test/support/builtin-proxy';

/** A builtin plane as a program of its own: node id argv[2], port of the control plane argv[3], processes argv[4]. */
async function main(): Promise<void> {
  const [id = '', xdsPort, count] = process.argv.slice(2);
  const several = Number(count) > 1;
  const processes = PlaneProcesses.start({
    processes: several ? Number(count) : 0,
    clock: systemClock,
    logger: silentLogger,
  });
  await BuiltinProxy.start({ id, xdsPort: Number(xdsPort), plane: several ? { processes } : {} });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ pids: [process.pid, ...processes.state.pids] });
}

void main();
