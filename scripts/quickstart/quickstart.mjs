import { join } from 'node:path';
import { build, isBuilt } from '../lib/build.mjs';
import { install, isInstalled } from '../lib/install.mjs';
import { provideAdminToken, provideContexts } from './admin-access.mjs';
import { requireFreePorts } from './check-ports.mjs';
import { requireWritableFolder } from './writable-folder.mjs';
import { startControlPlane, untilReady } from './control-plane.mjs';
import { hasSample, markSample, prepareDatabases } from './databases.mjs';
import { Parts, STAGES } from './parts.mjs';
import { startOptions } from './plane-options.mjs';
import { restApi } from './rest-api.mjs';
import { applySample, readSample, servicesOf } from './sample.mjs';
import { provideLeaderLock, providePostgres } from './services.mjs';
import { untilSettled } from './settle.mjs';
import { serviceTable } from './table.mjs';
import { thingsToTry } from './things-to-try.mjs';
import { atEnter, downText, serveDemo, startDown } from './traffic/demo.mjs';
import { answersLoopback, demoNetwork, requireFreeAddresses } from './traffic/network.mjs';
import { agentsFolder } from './traffic/traffic.mjs';
import { showTraffic } from './traffic/trips.mjs';
import { forgetCredentials, provideCredentials } from './zone-credentials.mjs';

/**
 * Brings up the mesh of the quickstart and keeps it up until `signal` aborts, or a part that it needs ends before all is shown.
 * It hands all that it starts to `atEnd`, to be stopped in reverse order.
 */
export async function runQuickstart(settings, { signal, atEnd, say }) {
  await prepare(settings, { signal, say });
  const parts = new Parts();
  atEnd(() => parts.stop());
  const postgres = await providePostgres(settings, parts, say);
  await prepareDatabases(postgres.url, settings.controlPlanes, settings);
  if (settings.fresh) forgetCredentials(settings.dataDir, agentsFolder(settings.dataDir));
  say(`Postgres: ${postgres.description}`);
  const lock = await provideLeaderLock(settings, parts);
  say(`Leader lock: ${lock.description}`);

  const network = await trafficNetwork(settings, { signal, say });
  const programs = await Promise.all(
    settings.controlPlanes.map((plane) =>
      parts.start(plane.name, () => startControlPlane(startOptions(settings, plane, { postgres, lock, network })), {
        stage: STAGES.controlPlanes,
      }),
    ),
  );
  const ended = Promise.race([parts.failed, whenAborted(signal)]);
  // The end of the mesh ends the wait for it as well: a control plane that refuses its database never gets ready.
  const over = new AbortController();
  ended.catch(() => over.abort());
  await Promise.race([
    ended,
    show({
      settings,
      parts,
      programs,
      postgres,
      network,
      say,
      atEnd,
      signal: AbortSignal.any([signal, over.signal]),
    }),
  ]);
  await ended;
}

async function prepare({ root, dataDir, controlPlanes }, { signal, say }) {
  requireWritableFolder(dataDir);
  await requireFreePorts(controlPlanes, signal);
  if (!isInstalled(root)) {
    say('installing packages (npm ci, half a minute the first time)');
    await install(root, signal);
  }
  if (!isBuilt(root)) {
    say('building');
    await build(root, signal);
  }
}

/**
 * Waits for the control planes, applies the sample once, prints the tables, starts what carries traffic. Only a control plane
 * that does not get ready ends it: if stored resources make a later step fail, users need the running mesh to correct them.
 */
async function show({ settings, parts, programs, postgres, network, say, atEnd, signal }) {
  const [globalPlane, ...zonePlanes] = settings.controlPlanes;
  const zones = zonePlanes.map(({ name }) => name);
  const waits = settings.controlPlanes.map((plane, n) => untilReady(plane, { ...programs[n], signal }));
  const ready = Promise.all(waits);
  ready.catch(() => {}); // whoever waits for it sees it
  await waits[0];
  const attempt = attempts({ signal, say });
  await attempt('give the zones new tokens', () =>
    provideCredentials(restApi(globalPlane, { ...settings, signal }), zones, settings.dataDir),
  );
  await ready;
  say(`Control planes: global, east and west are ready, their logs in ${join(settings.dataDir, 'logs')}`);
  const apis = settings.controlPlanes.map((plane) => restApi(plane, { ...settings, signal }));
  await attempt('give the command line tool its tokens', async () => {
    await Promise.all(
      settings.controlPlanes.map((plane, n) => provideAdminToken(apis[n], plane, { ...settings, signal })),
    );
    atEnd(provideContexts(settings));
  });
  const expected = await attempt('apply the sample', () => applySampleOnce({ settings, apis, postgres, say }));
  const seen = await attempt('show what the zones see', () => showTables({ apis, expected, signal, say }));
  const trips = network
    ? ((await attempt('carry traffic', () => showTraffic({ settings, apis, parts, network, signal, say }))) ?? [])
    : [];
  say(`\n${await thingsToTry(settings, seen?.at(-1) ?? [])}`);
  const demo = { parts, trips, settings };
  atEnd(await serveDemo(demo));
  const terminal = atEnter(async () => say(`\n${await startDown(demo)}`));
  atEnd(terminal.stop);
  parts.keepGoing(async (news) => say(`\n${await downText(demo, news, terminal)}`));
  const keys = terminal.isThere ? ' Enter shows what runs, and starts what is down.' : '';
  say(`\nRunning. Ctrl-C ends it; the next \`npm start\` finds its data.${keys}`);
}

/** The network of the demo's traffic; undefined where there is none, and why is said. */
async function trafficNetwork({ wantsTraffic, demoNetwork: name, environment }, { signal, say }) {
  if (!wantsTraffic) return undefined;
  const network = demoNetwork(name);
  if (Object.keys(environment).some((variable) => variable.startsWith('CAUSEWAY_VIP_RANGE_MESH'))) {
    say('Traffic: none, since CAUSEWAY_VIP_RANGE_… is set: the demo needs virtual IPs of its own network');
    return undefined;
  }
  if (!(await answersLoopback(network))) {
    say(`Traffic: none, since this machine has no address ${name}.0.1: of 127.0.0.0/8 only Linux has all`);
    return undefined;
  }
  await requireFreeAddresses(network, signal);
  return network;
}

/** Runs steps that the mesh can do without: a failure is printed in one line and gives undefined. */
function attempts({ signal, say }) {
  return async (what, work) => {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      say(`\nIt was not possible to ${what}: ${error.message}`);
      return undefined;
    }
  };
}

/** Gives the services of each zone. */
async function showTables({ apis, expected = [], signal, say }) {
  const [globalApi, ...zoneApis] = apis;
  const { lists, waitingFor } = await untilSettled({ globalApi, zoneApis, expected, signal });
  zoneApis.forEach(({ name }, index) => say(`\nWhat zone ${name} sees\n${serviceTable(lists[index])}`));
  if (waitingFor.length > 0) say(`\nNot there yet: ${waitingFor.join(', ')}`);
  return lists;
}

/** Gives the services that the sample registers; none when it was applied by an earlier start. */
async function applySampleOnce({ settings, apis, postgres, say }) {
  const [global] = settings.controlPlanes;
  if (await hasSample(postgres.url, global)) {
    say('Sample: applied by an earlier start');
    return [];
  }
  const expected = [];
  for (const [index, plane] of settings.controlPlanes.entries()) {
    const documents = await readSample(settings.root, plane);
    await applySample(apis[index], documents);
    expected.push(...servicesOf(documents, plane.name));
  }
  await markSample(postgres.url, global);
  say('Sample: examples/quickstart is applied');
  return expected;
}

function whenAborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
