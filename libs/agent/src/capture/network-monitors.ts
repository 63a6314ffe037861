import type { Clock } from '@causeway/runtime';
import { LastingProgram } from '../programs/lasting-program';
import { systemTools, type NetworkTools } from './network-tools';
import { isTrace, readNotedAddress } from './demand-rules';
import type { LocalAddress } from './local-address';
import { CAPTURE_TABLE, listCaptureRoutes, ROUTE_PROTOCOL, type NetworkPlan } from './ruleset';

export interface NetworkMonitorsOptions {
  readonly tools?: NetworkTools;
  readonly clock: Clock;
  /** Called when rules or routes of the agent may have changed. */
  readonly onEvent: () => void;
  /** Called with an address of the captured ranges that a program dialled while nothing listened there. */
  readonly onUnboundAddress?: (at: LocalAddress) => void;
}

const RULES = ['nft', 'monitor'];
/** Without elements of sets and maps, of which the mode `direct` changes thousands. */
const RULES_ONLY = [...RULES, 'ruleset'];
/** A link that goes down takes its routes with it, without a word about each. */
const ROUTES = ['ip', 'monitor', 'link', 'route'];
const ROUTE_EVENT = new RegExp(`\\bproto ${ROUTE_PROTOCOL}\\b|^(Deleted )?\\d+: |error|lost`, 'i');

/** Programs that report changes of rules and routes: `nft monitor` and `ip monitor`, for as long as a plan needs them. */
export class NetworkMonitors {
  private running: readonly LastingProgram[] = [];
  private commands = '';

  constructor(private readonly options: NetworkMonitorsOptions) {}

  /** Runs those programs that report changes of what a plan has installed; an empty plan needs none. */
  follow(plan: NetworkPlan, isInstalled: boolean): void {
    const rules = plan.capture?.type === 'translate' ? RULES_ONLY : RULES;
    const wanted = [
      ...(isInstalled ? [rules] : []),
      ...(isInstalled && listCaptureRoutes(plan).length > 0 ? [ROUTES] : []),
    ];
    const commands = JSON.stringify(wanted);
    if (commands === this.commands) return;
    this.close();
    this.commands = commands;
    this.running = wanted.map((command) => this.run(command));
  }

  /** Whether every change is reported. */
  get areRunning(): boolean {
    return this.running.every(({ isRunning }) => isRunning);
  }

  /** Process ids of the supervisors, for tests. */
  get pids(): readonly number[] {
    return this.running.flatMap(({ pid }) => pid ?? []);
  }

  close(): void {
    for (const one of this.running) one.close();
    this.running = [];
    this.commands = '';
  }

  private run(command: readonly string[]): LastingProgram {
    const { tools: { enterCommand = [] } = systemTools, clock, onEvent, onUnboundAddress } = this.options;
    const isEvent =
      command === ROUTES
        ? (line: string) => ROUTE_EVENT.test(line)
        : (line: string) => !isTrace(line) && (line.includes(CAPTURE_TABLE) || /error|lost/i.test(line));
    const onLine = (line: string): void => {
      const at = readNotedAddress(line, CAPTURE_TABLE);
      if (at) onUnboundAddress?.(at);
    };
    return new LastingProgram({ command: [...enterCommand, ...command], isEvent, onEvent, onLine, clock });
  }
}
