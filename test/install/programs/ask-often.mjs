/** Asks a server at a unix socket without end, many requests at once: `node ask-often.mjs SOCKET PATH`. The server needs memory for it. */
import { request } from 'node:http';

const [socketPath, path] = process.argv.slice(2);
const AT_ONCE = 100;

function ask() {
  const asked = request({ socketPath, path, agent: false }, (answer) => answer.resume().once('close', ask));
  asked.on('error', () => setTimeout(ask, 100)).end();
}

for (let n = 0; n < AT_ONCE; n++) ask();
