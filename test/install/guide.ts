/** A block of commands of a guide, and its heading. */
export interface Step {
  readonly heading: string;
  readonly script: string;
}

/** Commands that fetch packages: they need the network of the host that runs the guide. */
const FETCHES = /^\s*(apt-get|npm install)\b/m;

/** The blocks ` ```sh ` of a guide in their order, from one heading to another. A step is what one pastes into a shell at once. */
export function stepsOf(guide: string, from: string, to: string): readonly Step[] {
  const part = guide.slice(guide.indexOf(`\n${from}\n`), guide.indexOf(`\n${to}\n`));
  const steps: Step[] = [];
  let heading = '';
  for (const [, title, script] of part.matchAll(/^#+ (.+)$|^```sh\n([^]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else if (script !== undefined) steps.push({ heading, script });
  }
  return steps;
}

/** Returns the network in which a step runs. */
export function networkOf({ script }: Step): 'own network' | 'outside' {
  return FETCHES.test(script) ? 'outside' : 'own network';
}
