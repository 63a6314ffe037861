import { until } from '../support/until';
import { CAUSEWAY, type LabMachine, type ProbeCounts } from './lab-machine';

/** Result of a fault: facts to show, and each promise that was not kept. */
export interface Outcome {
  readonly facts: string;
  readonly broken: readonly string[];
}

export interface Fault {
  readonly name: string;
  readonly run: (lab: LabMachine) => Promise<Outcome>;
}

/** Agent, Envoy and rules of a machine at one moment. */
interface Moment {
  readonly agent: number;
  readonly envoys: readonly number[];
  readonly rules: string;
}

/** Time for which a unit is watched that must not come back, s; its RestartSec is 1 s. */
const STAYS_AWAY = 4;
/** Longest time for what a stopped agent has left to be ended, ms. */
const CLEAN_TIME = 5_000;
/** Time of a crash loop, s: systemd's preset gives up after five starts within 10 s. */
const CRASH_LOOP = 9;
/** Longest time without service where the agent itself carries the traffic: its restart, and connections that may end first, ms. */
const INTERRUPTED = 20_000;
const STATE = '/var/lib/causeway-agent';
const [RULES, ROUTES] = [
  'nft list table inet causeway 2>&1 | grep -v " expires "',
  'ip route show table all proto 199',
];

/** Faults that Envoy, its connections, the rules and the lease outlive. */
export const KEPT: readonly Fault[] = [
  { name: 'kill -9 of the agent', run: (lab) => keeps(lab, () => killAgent(lab)) },
  {
    name: 'the agent is killed for its memory',
    run: (lab) => keeps(lab, async () => outOfMemory(lab, await lab.agentPid(), `${STATE}/agent.sock`, '/status')),
  },
  { name: 'systemctl restart', run: (lab) => keeps(lab, () => lab.run('systemctl restart causeway-agent')) },
  { name: 'upgrade', run: (lab) => keeps(lab, () => lab.run(UPGRADE)) },
  { name: 'the agent ends again and again', run: (lab) => keeps(lab, () => crashLoop(lab), 'all but the lease') },
];

/** Faults that change the proxy, or end everything. */
export const ENDED: readonly Fault[] = [
  { name: 'upgrade to another Envoy', run: replaceEnvoy },
  { name: 'Envoy is killed for its memory', run: killEnvoy },
  { name: 'systemctl stop', run: (lab) => ends(lab, 'systemctl stop causeway-agent') },
  { name: 'systemctl stop of an agent that ends again and again', run: stopCrashLoop },
  { name: 'drain', run: (lab) => staysAway(lab, 'causeway-agent drain', 'enabled') },
  { name: 'drain of an agent that ends again and again', run: drainCrashLoop },
  { name: 'shutdown', run: (lab) => ends(lab, SHUTDOWN) },
  { name: 'uninstall', run: (lab) => staysAway(lab, 'causeway-agent uninstall', 'disabled') },
];

/** Faults of an agent that carries the traffic itself, on a machine without Envoy. */
export const BUILTIN: readonly Fault[] = [
  { name: 'builtin: kill -9 of the agent', run: (lab) => interrupts(lab, () => killAgent(lab)) },
  {
    name: 'builtin: systemctl restart',
    run: (lab) => interrupts(lab, () => lab.run('systemctl restart causeway-agent')),
  },
  { name: 'builtin: systemctl stop', run: (lab) => ends(lab, 'systemctl stop causeway-agent') },
];

/** The program is replaced while it runs, as `npm install -g` does. */
const UPGRADE = `
cd /usr/local/lib/node_modules && cp -a causeway causeway.new && mv causeway causeway.old && mv causeway.new causeway && rm -rf causeway.old
systemctl daemon-reload && systemctl restart causeway-agent`;

/** A shutdown up to where the machine would be off. The other units of the lab are not ended by it. */
const SHUTDOWN = `
printf '[Unit]\\nDefaultDependencies=no\\nRequires=shutdown.target\\nAfter=shutdown.target\\n[Service]\\nType=oneshot\\nExecStart=/bin/true\\n' \\
  >/etc/systemd/system/systemd-poweroff.service
systemctl daemon-reload && systemctl start poweroff.target`;

async function look(lab: LabMachine): Promise<Moment> {
  const [agent, envoys, rules] = await Promise.all([lab.agentPid(), lab.envoyPids(), lab.ask(`${RULES}; ${ROUTES}`)]);
  return { agent, envoys, rules };
}

async function keeps(
  lab: LabMachine,
  fault: () => Promise<unknown>,
  kept: 'all' | 'all but the lease' = 'all',
): Promise<Outcome> {
  await lab.untilServing();
  const before = await look(lab);
  await lab.resetProbe();
  await fault();
  await lab.untilServing(before.agent);
  const [after, counts] = [await look(lab), await lab.probe()];
  const broken = [
    ...(after.agent === before.agent ? ['the agent is the same'] : []),
    ...(String(after.envoys) === String(before.envoys)
      ? []
      : [`Envoy was ${before.envoys.join()}, is ${after.envoys.join()}`]),
    ...listRuleChanges(before, after),
    // Nobody is there to hold it.
    ...listDisturbances(kept === 'all' ? counts : { ...counts, absent: 0 }),
    ...((await lab.unit('ActiveState')) === 'active' ? [] : ['the unit is not active']),
  ];
  return { facts: describe(counts), broken };
}

/** Connections end with the agent, as its status says; rules, routes and the lease are kept, and new connections succeed soon. */
async function interrupts(lab: LabMachine, fault: () => Promise<unknown>): Promise<Outcome> {
  await lab.untilServing();
  const status = await lab.ask('causeway-agent status');
  const before = await look(lab);
  await lab.resetProbe();
  await fault();
  await lab.untilServing(before.agent);
  const [after, counts] = [await look(lab), await lab.probe()];
  const broken = [
    ...(/^ +connections +break when the agent ends/m.test(status) ? [] : ['the status does not say it']),
    ...(counts.broken === 4 ? [] : [`${counts.broken} held connections broke, not 4`]),
    ...(counts.lastFailure - counts.firstFailure < INTERRUPTED
      ? []
      : [`no service for more than ${INTERRUPTED} ms: ${JSON.stringify(counts.reasons)}`]),
    ...(counts.absent === 0 ? [] : [`the Dataplane was not registered ${counts.absent} times`]),
    ...listRuleChanges(before, after),
  ];
  return { facts: describe(counts), broken };
}

function listRuleChanges(before: Moment, after: Moment): readonly string[] {
  return after.rules === before.rules ? [] : [`rules or routes differ:\n${before.rules}\n---\n${after.rules}`];
}

function listDisturbances({ failures, broken, absent, reasons }: ProbeCounts): readonly string[] {
  return [
    ...(broken === 0 ? [] : [`${broken} held connections broke`]),
    ...(failures === 0 ? [] : [`${failures} new connections failed: ${JSON.stringify(reasons)}`]),
    ...(absent === 0 ? [] : [`the Dataplane was not registered ${absent} times`]),
  ];
}

function describe({ attempts, failures, broken, answered, firstFailure, lastFailure }: ProbeCounts): string {
  const span = failures === 0 ? '' : ` for ${((lastFailure - firstFailure) / 1_000).toFixed(1)} s`;
  return `${attempts} new connections, ${failures} failed${span}; 4 held, ${broken} broke, ${answered} answers`;
}

async function killAgent(lab: LabMachine): Promise<void> {
  await lab.run('systemctl kill -s KILL --kill-whom=main causeway-agent');
}

/** The kernel kills a process for the memory of its group, which answers to requests need. */
async function outOfMemory(lab: LabMachine, pid: number, socket: string, path: string): Promise<void> {
  await lab.run(`
if grep -qw memory /sys/fs/cgroup/cgroup.controllers; then
  echo +memory >/sys/fs/cgroup/cgroup.subtree_control || true
  group=/sys/fs/cgroup/lab-${pid} limit=memory.max
else
  mkdir -p /run/memory
  mountpoint -q /run/memory || mount -t cgroup -o memory none /run/memory
  group=/run/memory/causeway-lab-$$-${pid} limit=memory.limit_in_bytes
fi
mkdir $group && echo 256K >$group/$limit && echo ${pid} >$group/cgroup.procs
node /opt/lab/ask-often.mjs ${socket} ${path} &
n=0
while [ -d /proc/${pid} ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
kill $!
[ $n -lt 100 ]
cat $group/memory.oom_control $group/memory.events 2>/dev/null | grep -q '^oom_kill [1-9]'
rmdir $group`);
}

const BREAK_FILE =
  'cp -n /etc/causeway/agent.yaml /run/agent.yaml && echo "capture: nonsense" >/etc/causeway/agent.yaml';
const MEND_FILE = 'cp /run/agent.yaml /etc/causeway/agent.yaml';

async function crashLoop(lab: LabMachine): Promise<void> {
  await lab.run(BREAK_FILE);
  await killAgent(lab);
  await lab.run(`sleep ${CRASH_LOOP}`);
  const [state, restarts] = [await lab.unit('ActiveState'), await lab.unit('NRestarts')];
  if (state === 'failed') throw new Error(`the unit has failed after ${restarts} restarts`);
  await lab.run(MEND_FILE);
}

/** Another path of Envoy needs another process: both serve, and the former one ends with its connections. */
async function replaceEnvoy(lab: LabMachine): Promise<Outcome> {
  await lab.untilServing();
  const [former] = await lab.envoyPids();
  await lab.resetProbe();
  await lab.run(`cp /usr/local/bin/envoy /usr/local/bin/envoy-2
mkdir -p /etc/systemd/system/causeway-agent.service.d
printf '[Service]\\nEnvironment=CAUSEWAY_ENVOY=/usr/local/bin/envoy-2\\n' >/etc/systemd/system/causeway-agent.service.d/envoy.conf
systemctl daemon-reload && systemctl restart causeway-agent`);
  const both = await until('both Envoys run, or another one', async () => {
    const pids = await lab.envoyPids();
    return (pids.length > 1 || (pids.length === 1 && pids[0] !== former)) && pids;
  });
  const early = await lab.probe();
  await until('the former Envoy ends', async () => !(await lab.envoyPids()).includes(former ?? 0));
  await lab.untilServing();
  const counts = await lab.probe();
  const broken = [
    ...(both.length === 2 ? [] : ['two Envoys never ran together']),
    ...(both.length < 2 || early.broken === 0
      ? []
      : [`${early.broken} held connections broke before they had time to end`]),
    ...listDisturbances({ ...counts, broken: 0 }),
    ...((await lab.envoyPids()).length === 1 ? [] : ['there is not one Envoy']),
  ];
  return { facts: describe(counts), broken };
}

async function killEnvoy(lab: LabMachine): Promise<Outcome> {
  await lab.untilServing();
  const before = await look(lab);
  await lab.resetProbe();
  await outOfMemory(lab, before.envoys[0] ?? 0, `${STATE}/proxies/default.hello-1/admin.sock`, '/config_dump');
  await until('another Envoy runs', async () => (await lab.envoyPids()).some((pid) => !before.envoys.includes(pid)));
  await lab.untilServing();
  const [after, counts] = [await look(lab), await lab.probe()];
  const broken = [
    ...(after.agent === before.agent ? [] : ['the agent was started again']),
    ...(counts.absent === 0 ? [] : ['the Dataplane was not registered']),
    ...(counts.lastFailure - counts.firstFailure < 5_000 ? [] : ['no service for more than 5 s']),
  ];
  return { facts: describe(counts), broken };
}

/** Lists what an agent has left on its machine. */
async function listLeft(lab: LabMachine): Promise<readonly string[]> {
  const { envoys, rules } = await look(lab);
  const group = await lab.ask(
    'cat /sys/fs/cgroup/system.slice/causeway-agent.service/cgroup.procs 2>/dev/null || true',
  );
  const dataplanes = await lab.ask(`${CAUSEWAY} get dataplanes`);
  return [
    ...(envoys.length === 0 ? [] : [`Envoy is left: ${envoys.join()}`]),
    ...(/No such file/.test(rules) && !/proto 199/.test(rules) ? [] : [`rules or routes are left: ${rules}`]),
    ...(group === '' ? [] : [`processes are left: ${group}`]),
    ...(dataplanes.includes('hello-1') ? ['the Dataplane is left'] : []),
  ];
}

async function ends(lab: LabMachine, command: string, isTold = true): Promise<Outcome> {
  await lab.untilServing();
  return endsNow(lab, command, isTold);
}

async function endsNow(lab: LabMachine, command: string, isTold: boolean): Promise<Outcome> {
  await lab.run(command);
  const state = await until('the unit ends', async () => {
    const now = await lab.unit('ActiveState');
    return (now === 'inactive' || now === 'failed') && now;
  });
  // The cleaner may be at work for a moment.
  const listUnwanted = async (): Promise<readonly string[]> =>
    (await listLeft(lab)).filter((part) => isTold || part !== 'the Dataplane is left');
  await until('nothing is left', async () => (await listUnwanted()).length === 0, CLEAN_TIME).catch(() => undefined);
  const left = await listUnwanted();
  // An agent that does not run cannot withdraw its Dataplane: the lease ends.
  const broken = [...left, ...(state === 'inactive' ? [] : [`the unit is ${state}`])];
  await startAgain(lab);
  return { facts: `the unit is ${state}`, broken };
}

async function startAgain(lab: LabMachine): Promise<void> {
  await lab.run('systemctl start causeway-agent');
  await lab.untilServing();
}

async function loop(lab: LabMachine): Promise<void> {
  await lab.untilServing();
  await lab.run(BREAK_FILE);
  await killAgent(lab);
  await until(
    'the agent waits for its restart',
    async () => (await lab.unit('SubState')) === 'auto-restart' && Number(await lab.unit('NRestarts')) > 2,
  );
}

async function stopCrashLoop(lab: LabMachine): Promise<Outcome> {
  await loop(lab);
  return endsNow(lab, `systemctl stop causeway-agent; ${MEND_FILE}`, false);
}

async function drainCrashLoop(lab: LabMachine): Promise<Outcome> {
  await loop(lab);
  return endsNow(lab, `causeway-agent drain; ${MEND_FILE}`, false);
}

/** The unit stays away after the command, and is enabled or not. */
async function staysAway(lab: LabMachine, command: string, isEnabled: string): Promise<Outcome> {
  await lab.untilServing();
  await lab.run(command);
  await lab.run(`sleep ${STAYS_AWAY}`);
  const state = await lab.unit('ActiveState');
  const enabled = await lab.ask('systemctl is-enabled causeway-agent');
  const folder = await lab.ask('[ ! -d /var/lib/causeway-agent ] || ls -A /var/lib/causeway-agent | grep -c . || true');
  const broken = [
    ...(state === 'inactive' ? [] : [`the unit is ${state} again`]),
    ...(enabled === isEnabled ? [] : [`the unit is ${enabled}`]),
    ...(state === 'inactive' ? await listLeft(lab) : []),
    ...(command.includes('uninstall') && folder !== '' && folder !== '0' ? ['the state folder is left'] : []),
  ];
  if (!command.includes('uninstall')) await startAgain(lab);
  return { facts: `the unit is ${state}, ${enabled}`, broken };
}
