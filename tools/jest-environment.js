/**
 * A test environment that is the process itself: its globals are those of Jest, so packages can be shared by all test
 * files of a process (jest-runtime.js). What a file has changed of the process is put back after it.
 */
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const { ModuleMocker } = require('jest-mock');
const { cpuSeconds } = require('./cpu-seconds.js');

/** Globals that Jest's test runner keeps for one file. Other globals belong to packages and to our modules, which are shared. */
const OF_ONE_FILE = ['JEST_STATE_SYMBOL', 'EVENT_HANDLERS'];

module.exports = class ProcessEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern = null;
  #console = globalThis.console;
  #env = { ...process.env };
  #exit = process.exit;

  #file;
  #begun = cpuSeconds();

  constructor({ globalConfig }, { testPath }) {
    this.#file = relative(globalConfig.rootDir, testPath);
  }

  async setup() {}

  async teardown() {
    const report = this.#env.CAUSEWAY_TEST_CPU_FILE;
    if (report) appendFileSync(report, `${JSON.stringify([this.#file, cpuSeconds() - this.#begun])}\n`);
    this.moduleMocker.restoreAllMocks();
    globalThis.console = this.#console;
    process.exit = this.#exit;
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
    for (const key of Reflect.ownKeys(globalThis)) {
      if (OF_ONE_FILE.includes(typeof key === 'symbol' ? key.description : key)) delete globalThis[key];
    }
    this.global = undefined;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** None of its own: jest-runtime.js compiles for that of the process. */
  getVmContext() {
    return null;
  }
};
