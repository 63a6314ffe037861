const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');
const LONGEST = require('./longest-tests.json');

/**
 * Begins with the files that take longest. Jest knows how long a file took the last time, but nothing on a machine that never ran them, where
 * it goes by their sizes: then one worker would still be in a long file when the others have nothing left.
 */
module.exports = class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = [...(await super.sort(tests))];
    const place = ({ path, context }) => {
      const found = LONGEST.indexOf(relative(context.config.rootDir, path).replaceAll('\\', '/'));
      return found === -1 ? LONGEST.length : found;
    };
    return sorted.sort((a, b) => place(a) - place(b));
  }
};
