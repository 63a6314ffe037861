import { coreKinds } from '@causeway/kinds';
import { requireKind } from './context';

describe('a word that is no kind', () => {
  it.each([
    ['ms', 'did you mean meshservices (msvc)?'],
    ['mes', 'did you mean meshexternalservices (extsvc) or meshes (m) or meshparameters (mp)?'],
    ['hostname', 'did you mean hostnamegenerators (hg)?'],
    ['meshservises', 'did you mean meshservices?'],
    ['secr', 'did you mean secrets (sec)?'],
  ])('%s gets a hint', (word, hint) => {
    expect(() => requireKind(coreKinds, word)).toThrow(hint);
  });

  it.each(['', 'xyzzy'])('"%s" gets none', (word) => {
    expect(() => requireKind(coreKinds, word)).toThrow(new RegExp(`^"${word}" is no kind$`));
  });
});
