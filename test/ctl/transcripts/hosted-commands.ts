import { chmodSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync, type FSWatcher } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommandLine } from '../../../apps/ctl/src/command-line';
import { readCliConfig } from '../../../apps/ctl/src/config';

/** Behind the name of a folder whose call is complete. */
const COMPLETE = '.call';

/** Options and commands that need a process: a signal ends them, or they write to the standard output themselves. */
const NEED_PROCESS = ['-w', '--watch', 'export', 'edit'];

/**
 * Runs the command line within this process for scripts of a shell, which call it as a program: a process for each costs half a second of CPU. The
 * program writes its arguments, environment and input into a folder, and reads its output and its exit code from a pipe.
 */
export class HostedCommands {
  private readonly calls: string;
  private readonly seen = new Set<string>();
  private readonly watcher: FSWatcher;

  /** `program` is what a shell executes where a process is needed. */
  constructor(
    folder: string,
    private readonly program: string,
  ) {
    this.calls = join(folder, 'calls');
    mkdirSync(this.calls);
    this.watcher = watch(this.calls, () => this.answerNew());
  }

  /** Writes the program that calls this one. */
  install(path: string): void {
    writeFileSync(
      path,
      `#!/bin/sh
for word; do case $word in ${NEED_PROCESS.join('|')}) exec ${this.program} "$@" ;; esac; done
call=$(mktemp -d '${this.calls}/XXXXXX')
for word; do printf '%s\\0' "$word"; done >"$call/args"
env -0 >"$call/env"
cat >"$call/stdin"
pwd >"$call/cwd"
mkfifo "$call/reply"
mv "$call" "$call${COMPLETE}"
. "$call${COMPLETE}/reply"
`,
    );
    chmodSync(path, 0o755);
  }

  close(): void {
    this.watcher.close();
  }

  private answerNew(): void {
    for (const name of readdirSync(this.calls)) {
      if (!name.endsWith(COMPLETE) || this.seen.has(name)) continue;
      this.seen.add(name);
      void answer(join(this.calls, name));
    }
  }
}

/** Runs a call and writes a script that prints its output. */
async function answer(call: string): Promise<void> {
  const part = (name: string): string => readFileSync(join(call, name), 'utf8');
  const list = (name: string): readonly string[] => part(name).split('\0').slice(0, -1);
  const script: string[] = [];
  let code = 0;
  const print = (text: string, to = ''): unknown => script.push(`printf %s '${text.replaceAll("'", `'\\''`)}'${to}`);
  const before = process.cwd();
  try {
    process.chdir(part('cwd').trimEnd());
    await runCommandLine(['node', 'causeway', ...list('args')], {
      config: readCliConfig(Object.fromEntries(list('env').map((each) => each.split(/=(.*)/s)))),
      out: { write: (text) => print(text) },
      error: { write: (text) => print(text, ' >&2') },
      stdin: () => Promise.resolve(part('stdin')),
      signal: new AbortController().signal,
      colored: false,
      terminal: false,
      finish: (ended) => void (code = ended),
    });
  } catch (error) {
    print(error instanceof Error ? `${error.stack}\n` : String(error), ' >&2');
    code = 1;
  } finally {
    process.chdir(before);
  }
  await writeFile(join(call, 'reply'), `${script.join('\n')}\nexit ${code}\n`);
}
