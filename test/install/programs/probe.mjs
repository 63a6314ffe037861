/**
 * Client of an echo service: `node probe.mjs ADDRESS PORT SOCKET FILE`. Holds connections and says something on each, makes new ones, and asks the
 * control plane at SOCKET for the Dataplane `hello-1`, and the agent for its state, all the time. FILE has the counts since its start, or since
 * SIGUSR2, as JSON.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';

const [address, port, socketPath, file] = process.argv.slice(2);
const HELD = 4;
const [INTERVAL, LEASE_INTERVAL, ANSWER_TIME] = [50, 200, 2_000];
const PATH = '/meshes/default/dataplanes/hello-1';
const AGENT = { socketPath: '/var/lib/causeway-agent/agent.sock', path: '/status', timeout: ANSWER_TIME };

let counts;
/** The agent's process, its lease and its plane; undefined while it does not answer. */
let agent;
const held = new Set();
const begin = () =>
  (counts = {
    attempts: 0,
    failures: 0,
    failing: 0,
    firstFailure: 0,
    lastFailure: 0,
    broken: 0,
    answered: 0,
    absent: 0,
    reasons: {},
  });

/** Opens a connection and keeps it until it breaks. */
function hold() {
  const socket = connect({ host: address, port: Number(port) });
  const state = { socket, isOpen: false };
  held.add(state);
  socket.on('data', () => {
    state.isOpen = true;
    counts.answered += 1;
  });
  socket.on('error', () => undefined);
  socket.once('close', () => {
    held.delete(state);
    if (state.isOpen) counts.broken += 1;
    setTimeout(hold, 200);
  });
}

function attempt() {
  const mine = counts;
  const socket = connect({ host: address, port: Number(port) });
  const done = (reason) => {
    clearTimeout(timer);
    socket.removeAllListeners().on('error', () => undefined);
    socket.destroy();
    mine.attempts += 1;
    if (reason === undefined) return void (mine.failing = 0);
    mine.failures += 1;
    mine.failing += 1;
    mine.firstFailure ||= Date.now();
    mine.lastFailure = Date.now();
    mine.reasons[reason] = (mine.reasons[reason] ?? 0) + 1;
  };
  const timer = setTimeout(() => done('no answer'), ANSWER_TIME);
  socket.once('connect', () => socket.write('x'));
  socket.once('data', () => done());
  socket.once('error', (error) => done(error.code));
  socket.once('close', () => done('closed'));
}

function askLease() {
  const mine = counts;
  const asked = request({ socketPath, path: PATH, timeout: ANSWER_TIME }, (answer) => {
    answer.resume();
    if (answer.statusCode === 404) mine.absent += 1;
  });
  asked.on('error', () => undefined).end();
}

function askAgent() {
  const asked = request(AGENT, (answer) => {
    let text = '';
    answer.on('data', (part) => (text += part));
    answer.on('end', () => {
      const { pid, proxies } = JSON.parse(text);
      const [proxy] = proxies;
      agent = { pid, lease: proxy?.lease?.type, plane: proxy?.plane.type };
    });
  });
  asked.on('error', () => (agent = undefined)).end();
}

begin();
process.on('SIGUSR2', begin);
for (let n = 0; n < HELD; n++) hold();
setInterval(() => {
  for (const { socket } of held) socket.write('x');
  attempt();
  const open = [...held].filter(({ isOpen }) => isOpen).length;
  writeFileSync(`${file}.new`, JSON.stringify({ ...counts, open, agent }));
  renameSync(`${file}.new`, file);
}, INTERVAL);
setInterval(() => (askLease(), askAgent()), LEASE_INTERVAL);
