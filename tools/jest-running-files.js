/** A reporter that tells the process that started Jest (scripts/test.mjs) which test files begin and end. */
module.exports = class RunningFiles {
  onTestFileStart({ path }) {
    process.send?.({ began: path });
  }

  onTestFileResult({ path }) {
    process.send?.({ ended: path });
  }
};
