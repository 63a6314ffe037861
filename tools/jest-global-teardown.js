/** Stops what jest-global-setup.js started. */
module.exports = async () => {
  await globalThis.stopTestServices?.();
};
