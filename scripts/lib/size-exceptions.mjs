/** Files and folders that may break a limit of `npm run check:sizes`, each with its reason. This is the only such list. */
export const SIZE_EXCEPTIONS = {
  'libs/kinds/src/global-secret.ts': 'each kind has a file of its own',
  'libs/rest/src/controllers/docs.controller.ts': 'each controller of Nest has a file of its own',
  'libs/runtime/src/settings/decode.ts': 'type assertions are allowed in decode.ts only, which the linter holds',
};
