import { setTimeout as pause } from 'node:timers/promises';
import { grpcPortsOf, type GrpcPort } from '../test/support/grpc-ports';
import { ProcessMesh } from '../test/support/process-mesh';
import type { ProcessPlane } from '../test/support/process-plane';
import { rapidResets, sendRaw } from '../test/support/raw-http2';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';

/**
 * Measures how long 118 kB of begun and reset calls (RFC 9113 §10.5) hold the event loop of a control plane, at each of its gRPC ports and without
 * credentials: one connection, and connections one after another for BENCH_SECONDS (5), over a global and a zone as processes with a real
 * Postgres. The process itself measures (`nodejs_eventloop_lag_max_seconds`, without the 10 ms between its looks). Prints a JSON line a port.
 */
const TRIES = numberSetting('BENCH_TRIES', 5);
const SECONDS = numberSetting('BENCH_SECONDS', 5);
/** 118 kB. */
const STREAMS = 4_200;
const RESOLUTION = 10;
const PATIENCE = 2_000;
/** Connections at once. */
const SENDERS = 4;

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const mesh = await ProcessMesh.start(['east']);
  try {
    for (const port of grpcPortsOf(mesh)) report('rapid-reset', { port: port.name, ...(await measured(port)) });
  } finally {
    await mesh.stop();
    await stopServices();
  }
}

async function measured({ plane, target, path }: GrpcPort): Promise<Readonly<Record<string, unknown>>> {
  const bytes = rapidResets(path, STREAMS);
  const single: number[] = [];
  const codes = new Set<number | undefined>();
  for (let n = 0; n < TRIES; n++) {
    await holdOf(plane);
    codes.add((await sendRaw(target, bytes, PATIENCE)).code);
    await pause(3 * RESOLUTION);
    single.push(await holdOf(plane));
    await pause(500);
  }
  const until = Date.now() + SECONDS * 1_000;
  let connections = 0;
  const before = await cpuOf(plane);
  const sender = async (): Promise<void> => {
    for (; Date.now() < until; connections++) await sendRaw(target, bytes, PATIENCE);
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  const sustained = await holdOf(plane);
  const cpu = Math.round(((await cpuOf(plane)) - before) * 100) / 100;
  const one_connection_ms = { least: Math.min(...single), longest: Math.max(...single) };
  return {
    bytes: bytes.length,
    codes: [...codes],
    one_connection_ms,
    seconds: SECONDS,
    connections,
    longest_ms: sustained,
    cpu_s: cpu,
  };
}

/** The longest hold since it was asked for last, ms. */
async function holdOf(plane: ProcessPlane): Promise<number> {
  const seconds = await plane.metric('nodejs_eventloop_lag_max_seconds');
  return Math.round(Math.max(0, seconds * 1_000 - RESOLUTION) * 10) / 10;
}

function cpuOf(plane: ProcessPlane): Promise<number> {
  return plane.metric('process_cpu_seconds_total');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
